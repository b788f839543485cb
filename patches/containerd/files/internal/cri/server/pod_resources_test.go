// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/nri"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func cpu(amount string) *podresources.KubernetesResources {
	return &podresources.KubernetesResources{Requests: map[string]*wrapperspb.StringValue{"cpu": wrapperspb.String(amount)}}
}

// announcing returns a sandbox with a container "web" that asks for a CPU.
func announcing(t *testing.T) (*sandboxstore.Sandbox, *sandbox.Sandbox) {
	t.Helper()
	config := &runtime.PodSandboxConfig{Metadata: &runtime.PodSandboxMetadata{Name: "shop", Namespace: "default"}}
	require.NoError(t, podresources.Set(config, &podresources.PodResourceConfig{Containers: []*podresources.ContainerResourceConfig{{
		Name: "web", Type: podresources.ContainerType_CONTAINER, KubernetesResources: cpu("1"),
		Mounts: []*runtime.Mount{{ContainerPath: "/data", HostPath: "/srv/data"}},
	}}}))
	sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "id", Config: config}, sandboxstore.Status{})
	record := &sandbox.Sandbox{ID: "id"}
	require.NoError(t, announce(t.Context(), &sb, record))
	return &sb, record
}

func TestAnnouncementIsKept(t *testing.T) {
	sb, record := announcing(t)
	kept := sb.Status.Get().PodResources
	assert.Equal(t, "1", kept.Container("web").GetKubernetesResources().GetRequests()["cpu"].GetValue())

	c := newTestCRIService()
	recovered := sandboxstore.NewSandbox(sb.Metadata, sandboxstore.Status{})
	require.NoError(t, c.sandboxStore.Add(recovered))
	c.recoverPodResources(t.Context(), []sandbox.Sandbox{*record, {ID: "another"}})
	assert.True(t, proto.Equal(kept, recovered.Status.Get().PodResources))

	info := map[string]string{}
	require.NoError(t, showPodResources(sb, info))
	assert.Contains(t, info["podResources"], `"requests":{"cpu":"1"}`)
}

func TestControllerGetsWhatIsInTheAnnotation(t *testing.T) {
	sb, _ := announcing(t)
	text, err := podresources.ToAnnotation(sb.Status.Get().PodResources)
	require.NoError(t, err)
	config := &runtime.PodSandboxConfig{Annotations: map[string]string{podresources.Annotation: text}}
	annotated := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "id", Config: config}, sandboxstore.Status{})
	require.NoError(t, announce(t.Context(), &annotated, &sandbox.Sandbox{}))

	got, err := podresources.Decode(announcedConfig(&annotated))
	require.NoError(t, err)
	assert.True(t, proto.Equal(sb.Status.Get().PodResources, got))
	assert.Empty(t, config.ProtoReflect().GetUnknown(), "the pod's own configuration stays as it is")
}

func TestWhatCannotBeReadIsIgnored(t *testing.T) {
	for name, unknown := range map[string][]byte{
		"malformed":    protowire.AppendBytes(protowire.AppendTag(nil, podresources.FieldOfPod, protowire.BytesType), []byte{0xff}),
		"another type": protowire.AppendVarint(protowire.AppendTag(nil, podresources.FieldOfPod, protowire.VarintType), 7),
		"large":        protowire.AppendBytes(protowire.AppendTag(nil, podresources.FieldOfPod, protowire.BytesType), []byte(strings.Repeat("\n\x00", podresources.MaxSize))),
	} {
		t.Run(name, func(t *testing.T) {
			config := &runtime.PodSandboxConfig{}
			config.ProtoReflect().SetUnknown(unknown)
			sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "id", Config: config}, sandboxstore.Status{})
			record := &sandbox.Sandbox{}
			require.NoError(t, announce(t.Context(), &sb, record))
			assert.Nil(t, sb.Status.Get().PodResources)
			assert.Empty(t, record.Extensions)
			assert.Same(t, config, announcedConfig(&sb))
		})
	}
}

func TestAnnouncedContainer(t *testing.T) {
	asAnnounced := []*runtime.Mount{{ContainerPath: "/data", HostPath: "/srv/data"}}
	for name, tc := range map[string]struct {
		check  string
		name   string
		mounts []*runtime.Mount
		asks   *podresources.KubernetesResources
		cpu    string
		fails  string
	}{
		"as announced":                 {check: "enforce", name: "web", mounts: asAnnounced, cpu: "1"},
		"without a mount":              {check: "enforce", name: "web", cpu: "1", fails: `container "web" of pod default/shop differs from what was announced with the pod: mounts[/data]: announced`},
		"without a mount, warn":        {check: "warn", name: "web", cpu: "1"},
		"without a mount, off":         {check: "off", name: "web", cpu: "1"},
		"asks for more":                {check: "enforce", name: "web", mounts: asAnnounced, asks: cpu("2"), fails: "requests[cpu]: announced 1, got 2"},
		"asks for more, warn":          {check: "warn", name: "web", mounts: asAnnounced, asks: cpu("2"), cpu: "2"},
		"asks the same in other words": {check: "enforce", name: "web", mounts: asAnnounced, asks: cpu("1000m"), cpu: "1000m"},
		"ephemeral":                    {check: "enforce", name: "debug"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCRIService()
			c.config.PodResourcesCheck = tc.check
			sb, _ := announcing(t)
			config := &runtime.ContainerConfig{Metadata: &runtime.ContainerMetadata{Name: tc.name}, Mounts: tc.mounts}
			require.NoError(t, podresources.SetContainer(config, tc.asks))
			ctx, err := c.announced(t.Context(), sb, config)
			if tc.fails != "" {
				assert.ErrorIs(t, err, errdefs.ErrFailedPrecondition)
				assert.ErrorContains(t, err, tc.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.cpu, nri.ContainerResources(ctx).GetRequests()["cpu"].GetValue())
		})
	}
}
