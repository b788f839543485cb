// SPDX-License-Identifier: Apache-2.0

package podsandbox

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/containerd/typeurl/v2"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/metadata"
	crilabels "github.com/containerd/containerd/v2/internal/cri/labels"
	"github.com/containerd/containerd/v2/internal/cri/recovery"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox/types"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// metadataOf returns the metadata of a sandbox: from its container, or else from its record, or
// else the known part of it. The text is the reason if something cannot be read.
func (c *Controller) metadataOf(ctx context.Context, cntr containerd.Container) (*sandboxstore.Metadata, string, error) {
	info, err := cntr.Info(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("failed to get sandbox container info: %w", err)
	}
	unreadable := metadata.Unreadable(info.Extensions)
	meta, err := getMetadata(ctx, cntr)
	if err == nil {
		return meta, unreadable, nil
	}
	if _, ok := info.Extensions[crilabels.SandboxMetadataExtension]; !ok && unreadable == "" {
		return nil, "", err // another client has created it, with a label of CRI
	}
	recovery.Skip(ctx, recovery.Sandbox, cntr.ID(), err)
	unreadable = cmp.Or(unreadable, err.Error())
	if c.client != nil {
		meta := &sandboxstore.Metadata{}
		record, err := c.client.SandboxStore().Get(ctx, cntr.ID())
		if err == nil && record.GetExtension(MetadataKey, meta) == nil {
			return meta, unreadable, nil
		}
	}
	return KnownOf(cntr.ID(), info.Labels, info.Spec), unreadable, nil
}

// KnownOf returns the part of a sandbox's metadata that the rest of its record has: its labels
// and, if the specification can be read, the path of its network namespace.
func KnownOf(id string, labels map[string]string, specification typeurl.Any) *sandboxstore.Metadata {
	meta := &sandboxstore.Metadata{
		ID:   id,
		Name: id, // its own name has a number that nothing else has
		Config: &runtime.PodSandboxConfig{
			Metadata: &runtime.PodSandboxMetadata{
				Name:      cmp.Or(labels[crilabels.KubernetesPodNameLabel], id),
				Namespace: labels[crilabels.KubernetesPodNamespaceLabel],
				Uid:       labels[crilabels.KubernetesPodUIDLabel],
			},
			Labels: LabelsOfConfig(labels),
		},
	}
	var spec runtimespec.Spec
	if specification == nil || typeurl.UnmarshalTo(specification, &spec) != nil || spec.Linux == nil || len(spec.Linux.Namespaces) == 0 {
		return meta // or it was set aside, as even a pod on the host's network has namespaces
	}
	for _, namespace := range spec.Linux.Namespaces {
		if namespace.Type == runtimespec.NetworkNamespace {
			meta.NetNSPath = namespace.Path
			return meta
		}
	}
	meta.Config.Linux = &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{
		NamespaceOptions: &runtime.NamespaceOption{Network: runtime.NamespaceMode_NODE},
	}}
	return meta
}

// LabelsOfConfig returns the labels of a container without the label that CRI has added.
func LabelsOfConfig(labels map[string]string) map[string]string {
	own := maps.Clone(labels)
	delete(own, crilabels.ContainerKindLabel)
	return own
}

// metadataToStop returns the metadata with which a sandbox is stopped.
func metadataToStop(ctx context.Context, sb *types.PodSandbox) (*sandboxstore.Metadata, error) {
	if sb.Status.Get().Unreadable != "" {
		return &sb.Metadata, nil
	}
	return getMetadata(ctx, sb.Container)
}
