// SPDX-License-Identifier: Apache-2.0

package hookline_test

import (
	"fmt"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/api/resource"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline"
	"github.com/hookline-nri/hookline/internal/cri/podresources"
	"github.com/hookline-nri/hookline/internal/nri/podstate"
	"github.com/hookline-nri/hookline/internal/nri/provisional"
)

func quantities(nameAndValue ...string) map[string]resource.Quantity {
	q := map[string]resource.Quantity{}
	for i := 0; i < len(nameAndValue); i += 2 {
		q[nameAndValue[i]] = resource.MustParse(nameAndValue[i+1])
	}
	return q
}

var announcement = hookline.Announcement{
	Containers: []hookline.Container{
		{Name: "setup", Type: hookline.Init, Resources: hookline.Resources{Requests: quantities("cpu", "2")}},
		{
			Name: "web",
			Type: hookline.Main,
			Resources: hookline.Resources{
				Requests: quantities("cpu", "500m", "vendor.com/gpu", "1"),
				Limits:   quantities("memory", "1Gi"),
			},
			Mounts: []hookline.Mount{
				{ContainerPath: "/data", HostPath: "/srv/data", ReadOnly: true, Propagation: hookline.HostToContainer},
				{ContainerPath: "/models", ReadOnly: true, RecursiveReadOnly: true, Image: "example.com/models:1", ImageSubPath: "small"},
			},
			Devices:    []hookline.Device{{ContainerPath: "/dev/null", HostPath: "/dev/zero", Permissions: "rw"}},
			CDIDevices: []string{"vendor.com/gpu=0"},
		},
	},
	Resources: hookline.Resources{Requests: quantities("cpu", "3")},
}

// What a client announces is what a plugin reads at the end of the way: CRI, the
// runtime, NRI.
func TestAnnouncementTravels(t *testing.T) {
	asked := &cri.PodSandboxConfig{}
	require.NoError(t, hookline.SetPodResources(asked, announcement))
	config, err := podresources.Decode(overTheWire(t, asked))
	require.NoError(t, err)

	pod := &api.PodSandbox{Id: "pod"}
	podstate.Set(pod, podstate.Ready)
	attach(t, pod, config)
	pod = overTheWire(t, pod)
	if d := cmp.Diff(&announcement, hookline.PodResources(pod)); d != "" {
		t.Error(d)
	}
	require.Equal(t, hookline.Ready, hookline.State(pod))
	podstate.Set(pod, podstate.Stopped)
	require.NotNil(t, hookline.PodResources(pod))
}

func TestPodUpdateTravels(t *testing.T) {
	asked := &cri.UpdatePodSandboxResourcesRequest{PodSandboxId: "pod"}
	require.NoError(t, hookline.SetPodUpdate(asked, announcement))
	config, err := podresources.FromPodUpdate(overTheWire(t, asked))
	require.NoError(t, err)
	pod := &api.PodSandbox{}
	attach(t, pod, config)
	if d := cmp.Diff(&announcement, hookline.PodResources(pod)); d != "" {
		t.Error(d)
	}
}

func TestContainerResourcesTravel(t *testing.T) {
	want := announcement.Containers[1].Resources
	read := func(r *podresources.KubernetesResources, err error) *hookline.Resources {
		require.NoError(t, err)
		container := &api.Container{Id: "container"}
		provisional.Set(container, provisional.Resources, r.Wire())
		return hookline.ContainerResources(overTheWire(t, container))
	}
	create := &cri.ContainerConfig{}
	require.NoError(t, hookline.SetContainerResources(create, want))
	require.Empty(t, cmp.Diff(&want, read(podresources.FromContainer(overTheWire(t, create)))))

	update := &cri.UpdateContainerResourcesRequest{}
	require.NoError(t, hookline.SetContainerUpdate(update, want))
	require.Empty(t, cmp.Diff(&want, read(podresources.FromUpdate(overTheWire(t, update)))))

	// To ask for nothing is to say so.
	require.NoError(t, hookline.SetContainerResources(create, hookline.Resources{}))
	require.Equal(t, &hookline.Resources{}, read(podresources.FromContainer(create)))
}

func TestAnnotationTravels(t *testing.T) {
	key, value, err := hookline.PodResourcesAnnotation(announcement)
	require.NoError(t, err)
	config := &cri.PodSandboxConfig{Annotations: map[string]string{key: value}}
	announced, source, err := podresources.Take(config, true)
	require.NoError(t, err)
	require.Equal(t, podresources.FromPod, source)
	sandboxer, err := hookline.Announced(announced.Put(config))
	require.NoError(t, err)
	if d := cmp.Diff(&announcement, sandboxer); d != "" {
		t.Error(d)
	}
	pod := &api.PodSandbox{}
	provisional.Set(pod, provisional.Resources, announced.Wire())
	if d := cmp.Diff(&announcement, hookline.PodResources(pod)); d != "" {
		t.Error(d)
	}
}

// attach has a runtime tell with a pod.
func attach(t *testing.T, pod *api.PodSandbox, config *podresources.PodResourceConfig) {
	t.Helper()
	announced, err := podresources.NewAnnouncement(config, podresources.Field)
	require.NoError(t, err)
	provisional.Set(pod, provisional.Resources, announced.Wire())
}

// A sandboxer that was not told, or of something else.
func TestAnnouncedToASandboxer(t *testing.T) {
	announced, err := hookline.Announced(&cri.PodSandboxConfig{})
	require.NoError(t, err)
	require.Nil(t, announced)
	config := &cri.PodSandboxConfig{}
	config.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 10, protowire.VarintType), 7))
	announced, err = hookline.Announced(config)
	require.ErrorContains(t, err, "is a varint, want a message")
	require.Nil(t, announced)
}

// A runtime that does not tell, and one that means something else by the field.
func TestNoResources(t *testing.T) {
	require.Nil(t, hookline.PodResources(nil))
	require.Nil(t, hookline.ContainerResources(nil))
	for name, unknown := range map[string][]byte{
		"none":          nil,
		"another type":  protowire.AppendVarint(protowire.AppendTag(nil, 1001, protowire.VarintType), 7),
		"not resources": protowire.AppendString(protowire.AppendTag(nil, 1001, protowire.BytesType), "po"),
		"malformed":     {0xff},
	} {
		t.Run(name, func(t *testing.T) {
			pod, container := &api.PodSandbox{}, &api.Container{}
			pod.ProtoReflect().SetUnknown(unknown)
			container.ProtoReflect().SetUnknown(unknown)
			require.Nil(t, hookline.PodResources(pod))
			require.Nil(t, hookline.ContainerResources(container))
		})
	}
}

// A client learns what a runtime would refuse.
func TestSetRefuses(t *testing.T) {
	negative := hookline.Resources{Limits: quantities("cpu", "-1")}
	twice := hookline.Announcement{Containers: []hookline.Container{{Name: "a", Type: hookline.Main}, {Name: "a", Type: hookline.Main}}}
	untyped := hookline.Announcement{Containers: []hookline.Container{{Name: "a"}}}
	require.ErrorContains(t, hookline.SetPodResources(&cri.PodSandboxConfig{}, twice), `two containers have the name "a"`)
	require.ErrorContains(t, hookline.SetPodResources(&cri.PodSandboxConfig{}, untyped), `container "a" has no type`)
	require.ErrorContains(t, hookline.SetPodUpdate(&cri.UpdatePodSandboxResourcesRequest{}, untyped), "has no type")
	require.ErrorContains(t, hookline.SetContainerResources(&cri.ContainerConfig{}, negative), "is negative")
	require.ErrorContains(t, hookline.SetContainerUpdate(&cri.UpdateContainerResourcesRequest{}, negative), "is negative")
	_, _, err := hookline.PodResourcesAnnotation(hookline.Announcement{Resources: negative})
	require.ErrorContains(t, err, "is negative")
}

func TestResourceNames(t *testing.T) {
	require.Equal(t, "init main ContainerType(7)", fmt.Sprint(hookline.Init, " ", hookline.Main, " ", hookline.ContainerType(7)))
	require.Equal(t, "Private HostToContainer Bidirectional Propagation(7)",
		fmt.Sprint(hookline.Private, " ", hookline.HostToContainer, " ", hookline.Bidirectional, " ", hookline.Propagation(7)))
}

func overTheWire[M proto.Message](t *testing.T, sent M) M {
	t.Helper()
	wire, err := proto.Marshal(sent)
	require.NoError(t, err)
	got := sent.ProtoReflect().New().Interface()
	require.NoError(t, proto.Unmarshal(wire, got))
	return got.(M)
}

// How a plugin learns in RunPodSandbox what a pod can take at most: less, where
// init containers are done before the main ones start.
func ExamplePodResources() {
	pod := &api.PodSandbox{Name: "web"} // of a runtime that does not tell
	announced := hookline.PodResources(pod)
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

// What an admission webhook puts on a pod.
func ExamplePodResourcesAnnotation() {
	key, value, err := hookline.PodResourcesAnnotation(hookline.Announcement{
		Containers: []hookline.Container{{
			Name:      "web",
			Type:      hookline.Main,
			Resources: hookline.Resources{Requests: map[string]resource.Quantity{"cpu": resource.MustParse("500m")}},
		}},
	})
	fmt.Println(key, value, err)
	// Output: hookline.dev/pod-resources {"containers":[{"name":"web","type":"CONTAINER","kubernetesResources":{"requests":{"cpu":"500m"}}}]} <nil>
}
