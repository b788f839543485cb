// SPDX-License-Identifier: Apache-2.0

package podsandbox

import (
	"testing"

	"github.com/containerd/typeurl/v2"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crilabels "github.com/containerd/containerd/v2/internal/cri/labels"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox/types"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func TestKnownOf(t *testing.T) {
	labels := map[string]string{
		crilabels.ContainerKindLabel:          crilabels.ContainerKindSandbox,
		crilabels.KubernetesPodNameLabel:      "web",
		crilabels.KubernetesPodNamespaceLabel: "default",
		crilabels.KubernetesPodUIDLabel:       "uid",
	}
	of := func(namespaces ...runtimespec.LinuxNamespace) typeurl.Any {
		spec, err := typeurl.MarshalAny(&runtimespec.Spec{Linux: &runtimespec.Linux{Namespaces: namespaces}})
		require.NoError(t, err)
		return spec
	}
	own := KnownOf("pod", labels, of(runtimespec.LinuxNamespace{Type: runtimespec.NetworkNamespace, Path: "/run/netns/pod"}))
	assert.Equal(t, "web", own.Config.GetMetadata().GetName())
	assert.Equal(t, "default", own.Config.GetMetadata().GetNamespace())
	assert.Equal(t, "uid", own.Config.GetMetadata().GetUid())
	assert.Equal(t, "/run/netns/pod", own.NetNSPath)
	assert.NotContains(t, own.Config.GetLabels(), crilabels.ContainerKindLabel)
	assert.False(t, hostNetwork(own.Config))

	assert.True(t, hostNetwork(KnownOf("pod", labels, of(runtimespec.LinuxNamespace{Type: runtimespec.MountNamespace})).Config), "it has no network of its own")
	assert.False(t, hostNetwork(KnownOf("pod", labels, of()).Config), "its specification was set aside")
	nothing := KnownOf("pod", nil, nil)
	assert.False(t, hostNetwork(nothing.Config), "the stop looks for its attachments")
	assert.Equal(t, "pod", nothing.Config.GetMetadata().GetName(), "the kubelet reads the name")
}

// A sandbox whose metadata cannot be read is stopped with the known part of it.
func TestMetadataToStop(t *testing.T) {
	sb := types.NewPodSandbox("pod", sandboxstore.Status{Unreadable: "metadata"})
	sb.Metadata = *KnownOf("pod", nil, nil)
	meta, err := metadataToStop(t.Context(), sb)
	require.NoError(t, err)
	assert.Equal(t, "pod", meta.ID)
}
