// SPDX-License-Identifier: Apache-2.0

package podresources_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/api/resource"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/podresources"
	kep "github.com/hookline-nri/hookline/podresources/internal/cri/podresources"
	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

func quantities(nameAndValue ...string) map[string]resource.Quantity {
	q := map[string]resource.Quantity{}
	for i := 0; i < len(nameAndValue); i += 2 {
		q[nameAndValue[i]] = resource.MustParse(nameAndValue[i+1])
	}
	return q
}

var announcement = podresources.Pod{
	Containers: []podresources.Container{
		{Name: "setup", Type: podresources.InitContainer, Resources: podresources.Requirements{Requests: quantities("cpu", "2")}},
		{
			Name: "web",
			Type: podresources.MainContainer,
			Resources: podresources.Requirements{
				Requests: quantities("cpu", "500m", "vendor.com/gpu", "1"),
				Limits:   quantities("memory", "1Gi"),
			},
			Mounts: []podresources.Mount{
				{ContainerPath: "/data", HostPath: "/srv/data", ReadOnly: true, Propagation: podresources.PropagationHostToContainer},
				{ContainerPath: "/models", ReadOnly: true, RecursiveReadOnly: true, Image: "example.com/models:1", ImageSubPath: "small"},
			},
			Devices:    []podresources.Device{{ContainerPath: "/dev/null", HostPath: "/dev/zero", Permissions: "rw"}},
			CDIDevices: []string{"vendor.com/gpu=0"},
		},
	},
	Resources: podresources.Requirements{Requests: quantities("cpu", "3")},
}

// A plugin reads the resources that a client announces, by way of CRI, the runtime and NRI.
func TestAnnouncementTravels(t *testing.T) {
	asked := &cri.PodSandboxConfig{}
	require.NoError(t, podresources.SetPod(asked, announcement))
	config, err := kep.Decode(overTheWire(t, asked))
	require.NoError(t, err)

	// The pod's state, which package podstate reads, is in a field of its own.
	state := protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 2)
	pod := &api.PodSandbox{Id: "pod"}
	pod.ProtoReflect().SetUnknown(state)
	attach(t, pod, config)
	pod = overTheWire(t, pod)
	if d := cmp.Diff(&announcement, podresources.FromPod(pod)); d != "" {
		t.Error(d)
	}
	require.True(t, bytes.HasPrefix(pod.ProtoReflect().GetUnknown(), state), "the state stays")
}

func TestPodUpdateTravels(t *testing.T) {
	asked := &cri.UpdatePodSandboxResourcesRequest{PodSandboxId: "pod"}
	require.NoError(t, podresources.SetPodUpdate(asked, announcement))
	config, err := kep.FromPodUpdate(overTheWire(t, asked))
	require.NoError(t, err)
	pod := &api.PodSandbox{}
	attach(t, pod, config)
	if d := cmp.Diff(&announcement, podresources.FromPod(pod)); d != "" {
		t.Error(d)
	}
}

func TestContainerResourcesTravel(t *testing.T) {
	want := announcement.Containers[1].Resources
	read := func(r *kep.KubernetesResources, err error) *podresources.Requirements {
		require.NoError(t, err)
		container := &api.Container{Id: "container"}
		provisional.Set(container, provisional.Resources, r.Wire())
		return podresources.FromContainer(overTheWire(t, container))
	}
	create := &cri.ContainerConfig{}
	require.NoError(t, podresources.SetContainer(create, want))
	require.Empty(t, cmp.Diff(&want, read(kep.FromContainer(overTheWire(t, create)))))

	update := &cri.UpdateContainerResourcesRequest{}
	require.NoError(t, podresources.SetContainerUpdate(update, want))
	require.Empty(t, cmp.Diff(&want, read(kep.FromUpdate(overTheWire(t, update)))))

	// A container that requests nothing is announced, too.
	require.NoError(t, podresources.SetContainer(create, podresources.Requirements{}))
	require.Equal(t, &podresources.Requirements{}, read(kep.FromContainer(create)))
}

func TestAnnotationTravels(t *testing.T) {
	key, value, err := podresources.Annotation(announcement)
	require.NoError(t, err)
	config := &cri.PodSandboxConfig{Annotations: map[string]string{key: value}}
	announced, source, err := kep.Take(config, true)
	require.NoError(t, err)
	require.Equal(t, kep.FromPod, source)
	sandboxer, err := podresources.FromConfig(announced.Put(config))
	require.NoError(t, err)
	if d := cmp.Diff(&announcement, sandboxer); d != "" {
		t.Error(d)
	}
	pod := &api.PodSandbox{}
	provisional.Set(pod, provisional.Resources, announced.Wire())
	if d := cmp.Diff(&announcement, podresources.FromPod(pod)); d != "" {
		t.Error(d)
	}
}

// attach sets the resources of a pod as a runtime does.
func attach(t *testing.T, pod *api.PodSandbox, config *kep.PodResourceConfig) {
	t.Helper()
	announced, err := kep.NewAnnouncement(config, kep.Field)
	require.NoError(t, err)
	provisional.Set(pod, provisional.Resources, announced.Wire())
}

// A sandboxer gets no announcement, or another field.
func TestAnnouncedToASandboxer(t *testing.T) {
	announced, err := podresources.FromConfig(&cri.PodSandboxConfig{})
	require.NoError(t, err)
	require.Nil(t, announced)
	config := &cri.PodSandboxConfig{}
	config.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 10, protowire.VarintType), 7))
	announced, err = podresources.FromConfig(config)
	require.ErrorContains(t, err, "is a varint, want a message")
	require.Nil(t, announced)
}

// A runtime sends no resources, or something else in the field.
func TestNoResources(t *testing.T) {
	require.Nil(t, podresources.FromPod(nil))
	require.Nil(t, podresources.FromContainer(nil))
	for name, unknown := range map[string][]byte{
		"none":          nil,
		"another type":  protowire.AppendVarint(protowire.AppendTag(nil, provisional.Resources, protowire.VarintType), 7),
		"not resources": protowire.AppendString(protowire.AppendTag(nil, provisional.Resources, protowire.BytesType), "po"),
		"malformed":     {0xff},
	} {
		t.Run(name, func(t *testing.T) {
			pod, container := &api.PodSandbox{}, &api.Container{}
			pod.ProtoReflect().SetUnknown(unknown)
			container.ProtoReflect().SetUnknown(unknown)
			require.Nil(t, podresources.FromPod(pod))
			require.Nil(t, podresources.FromContainer(container))
		})
	}
}

// A client gets an error for resources that a runtime would reject.
func TestSetRejects(t *testing.T) {
	negative := podresources.Requirements{Limits: quantities("cpu", "-1")}
	twice := podresources.Pod{Containers: []podresources.Container{{Name: "a", Type: podresources.MainContainer}, {Name: "a", Type: podresources.MainContainer}}}
	untyped := podresources.Pod{Containers: []podresources.Container{{Name: "a"}}}
	require.ErrorContains(t, podresources.SetPod(&cri.PodSandboxConfig{}, twice), `two containers have the name "a"`)
	require.ErrorContains(t, podresources.SetPod(&cri.PodSandboxConfig{}, untyped), `container "a" has no type`)
	require.ErrorContains(t, podresources.SetPodUpdate(&cri.UpdatePodSandboxResourcesRequest{}, untyped), "has no type")
	require.ErrorContains(t, podresources.SetContainer(&cri.ContainerConfig{}, negative), "is negative")
	require.ErrorContains(t, podresources.SetContainerUpdate(&cri.UpdateContainerResourcesRequest{}, negative), "is negative")
	_, _, err := podresources.Annotation(podresources.Pod{Resources: negative})
	require.ErrorContains(t, err, "is negative")
}

func TestResourceNames(t *testing.T) {
	require.Equal(t, "init main ContainerType(7)", fmt.Sprint(podresources.InitContainer, " ", podresources.MainContainer, " ", podresources.ContainerType(7)))
	require.Equal(t, "Private HostToContainer Bidirectional Propagation(7)",
		fmt.Sprint(podresources.PropagationPrivate, " ", podresources.PropagationHostToContainer, " ", podresources.PropagationBidirectional, " ", podresources.Propagation(7)))
}

func overTheWire[M proto.Message](t *testing.T, sent M) M {
	t.Helper()
	wire, err := proto.Marshal(sent)
	require.NoError(t, err)
	got := sent.ProtoReflect().New().Interface()
	require.NoError(t, proto.Unmarshal(wire, got))
	return got.(M)
}

// How a plugin computes in RunPodSandbox how much a pod can take at most. It takes less if init
// containers end before the main ones start.
func ExampleFromPod() {
	pod := &api.PodSandbox{Name: "web"} // of a runtime that sends no resources
	announced := podresources.FromPod(pod)
	if announced == nil {
		fmt.Println("nothing known of", pod.Name)
		return
	}
	var cpu resource.Quantity
	for _, c := range announced.Containers {
		cpu.Add(c.Resources.Requests["cpu"])
	}
	fmt.Println(pod.Name, "requests", cpu.String())
	// Output: nothing known of web
}

// How an admission webhook makes the annotation of a pod.
func ExampleAnnotation() {
	key, value, err := podresources.Annotation(podresources.Pod{
		Containers: []podresources.Container{{
			Name:      "web",
			Type:      podresources.MainContainer,
			Resources: podresources.Requirements{Requests: map[string]resource.Quantity{"cpu": resource.MustParse("500m")}},
		}},
	})
	fmt.Println(key, value, err)
	// Output: hookline.dev/pod-resources {"containers":[{"name":"web","type":"CONTAINER","kubernetesResources":{"requests":{"cpu":"500m"}}}]} <nil>
}
