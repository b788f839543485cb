// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func cpu(amount string) *podresources.KubernetesResources {
	return &podresources.KubernetesResources{Requests: map[string]*wrapperspb.StringValue{"cpu": wrapperspb.String(amount)}}
}

// webAsks is a pod with a container "web".
func webAsks(amount string) *podresources.PodResourceConfig {
	return &podresources.PodResourceConfig{Containers: []*podresources.ContainerResourceConfig{{
		Name: "web", Type: podresources.ContainerType_CONTAINER.Enum(), KubernetesResources: cpu(amount),
		Mounts: []*runtime.Mount{{ContainerPath: "/data", HostPath: "/srv/data"}},
	}}}
}

func requested(sb *sandboxstore.Sandbox, container string) string {
	return sb.Status.Get().PodResources.Container(container).GetKubernetesResources().GetRequests()["cpu"].GetValue()
}

// announcing returns a sandbox with an announced CPU for "web", in the field or in the
// annotation.
func announcing(t *testing.T, c *criService, source podresources.Source) *sandboxstore.Sandbox {
	t.Helper()
	config := &runtime.PodSandboxConfig{Metadata: &runtime.PodSandboxMetadata{Name: "shop", Namespace: "default"}}
	switch source {
	case podresources.Field:
		require.NoError(t, podresources.Set(config, webAsks("1")))
	case podresources.FromPod:
		text, err := podresources.ToAnnotation(webAsks("1"))
		require.NoError(t, err)
		config.Annotations = map[string]string{podresources.Annotation: text}
	}
	sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "id", Config: config}, sandboxstore.Status{})
	sb.Sandboxer = "shim"
	c.config.PodResourcesAnnotation = true
	c.takeAnnouncement(t.Context(), &sb)
	return &sb
}

func TestAnnouncementIsKept(t *testing.T) {
	for _, source := range []podresources.Source{podresources.Field, podresources.FromPod} {
		t.Run(string(source), func(t *testing.T) {
			c := newTestCRIService()
			sb := announcing(t, c, source)
			kept := sb.Status.Get().PodResources
			assert.Equal(t, "1", requested(sb, "web"))
			assert.Empty(t, sb.Config.ProtoReflect().GetUnknown(), "it is kept once")

			record := &sandbox.Sandbox{ID: "id"}
			recordAnnouncement(t.Context(), sb, record)
			recovered := sandboxstore.NewSandbox(sb.Metadata, sandboxstore.Status{})
			require.NoError(t, c.sandboxStore.Add(recovered))
			c.recoverPodResources(t.Context(), []sandbox.Sandbox{*record, {ID: "another"}})
			assert.True(t, proto.Equal(kept.Kept(), recovered.Status.Get().PodResources.Kept()))

			info := map[string]string{}
			showPodResources(sb, info)
			assert.Contains(t, info["podResources"], `"requests":{"cpu":"1"}`)

			got, err := podresources.Decode(configForController(sb))
			require.NoError(t, err)
			assert.True(t, proto.Equal(webAsks("1"), got))
			sb.Sandboxer = "podsandbox"
			assert.Same(t, sb.Config, configForController(sb), "this controller reads the record")
		})
	}
}

func TestAnnotationIsSwitchedOff(t *testing.T) {
	c := newTestCRIService()
	sb := announcing(t, c, podresources.FromPod)
	setPodResources(sb, nil)
	c.config.PodResourcesAnnotation = false
	c.takeAnnouncement(t.Context(), sb)
	assert.Nil(t, sb.Status.Get().PodResources)
}

func TestRecordThatCannotBeReadIsIgnored(t *testing.T) {
	ctx, text := logged(t)
	c := newTestCRIService()
	sb := announcing(t, c, podresources.None)
	require.NoError(t, c.sandboxStore.Add(*sb))
	record := sandbox.Sandbox{ID: "id"}
	require.NoError(t, record.AddExtension(podResourcesKey, &podresources.KeptAnnouncement{
		Config: &podresources.PodResourceConfig{Containers: []*podresources.ContainerResourceConfig{{}}},
	}))
	c.recoverPodResources(ctx, []sandbox.Sandbox{record})
	assert.Nil(t, sb.Status.Get().PodResources)
	assert.Contains(t, text.String(), "ignoring the resources in the record of pod default/shop")
}

func TestUnreadableResourcesAreIgnored(t *testing.T) {
	for name, unknown := range map[string][]byte{
		"malformed":    protowire.AppendBytes(protowire.AppendTag(nil, podresources.FieldOfPod, protowire.BytesType), []byte{0xff}),
		"another type": protowire.AppendVarint(protowire.AppendTag(nil, podresources.FieldOfPod, protowire.VarintType), 7),
		"large":        protowire.AppendBytes(protowire.AppendTag(nil, podresources.FieldOfPod, protowire.BytesType), []byte(strings.Repeat("\n\x00", podresources.MaxSize))),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, text := logged(t)
			c := newTestCRIService()
			config := &runtime.PodSandboxConfig{Metadata: &runtime.PodSandboxMetadata{Name: "shop", Namespace: "default"}}
			config.ProtoReflect().SetUnknown(unknown)
			sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "id", Config: config}, sandboxstore.Status{})
			c.takeAnnouncement(ctx, &sb)
			record := &sandbox.Sandbox{}
			recordAnnouncement(ctx, &sb, record)
			assert.Nil(t, sb.Status.Get().PodResources)
			assert.Empty(t, record.Extensions)
			assert.Equal(t, name == "large", len(configForController(&sb).ProtoReflect().GetUnknown()) == 0,
				"a shim may understand it, unless it is too large for any shim")

			// Once for each pod, whatever else is unreadable.
			container := &runtime.ContainerConfig{Metadata: &runtime.ContainerMetadata{Name: "web"}}
			container.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, podresources.FieldOfContainer, protowire.VarintType), 7))
			withResources(ctx, &sb, container)
			update := &runtime.UpdateContainerResourcesRequest{}
			update.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, podresources.FieldOfUpdate, protowire.VarintType), 7))
			assert.Nil(t, containerUpdate(ctx, &sb, update))
			ofPod := &runtime.UpdatePodSandboxResourcesRequest{}
			ofPod.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, podresources.FieldOfPodUpdate, protowire.VarintType), 7))
			assert.Nil(t, podUpdate(ctx, &sb, ofPod))
			assert.Equal(t, 1, strings.Count(text.String(), "ignoring the resources in the field of pod default/shop"), text.String())
			assert.Equal(t, 1, strings.Count(text.String(), "\n"), text.String())
		})
	}
}
