// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/containerd/typeurl/v2"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/metadata"
	core "github.com/containerd/containerd/v2/core/sandbox"
	crilabels "github.com/containerd/containerd/v2/internal/cri/labels"
	"github.com/containerd/containerd/v2/internal/cri/recovery"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// A sandbox or container that cannot be fully read stays in CRI's lists, as unknown or not
// ready. So it is stopped and removed like any other, and no clean-up that removes whatever is
// not in the lists takes it for gone.

// unreadableInfo is the key in a verbose status for the reason why something cannot be read.
const unreadableInfo = "unreadable"

// metadataOf returns the metadata of a container, or else the known part of it. The text is the
// reason if something cannot be read.
func metadataOf(ctx context.Context, cntr containerd.Container) (*containerstore.Metadata, string, error) {
	info, err := cntr.Info(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("failed to get container info: %w", err)
	}
	unreadable := metadata.Unreadable(info.Extensions)
	meta := &containerstore.Metadata{}
	extension, ok := info.Extensions[crilabels.ContainerMetadataExtension]
	if ok {
		err = typeurl.UnmarshalTo(extension, meta)
	} else {
		err = fmt.Errorf("metadata extension %q: %w", crilabels.ContainerMetadataExtension, errdefs.ErrNotFound)
		if unreadable == "" { // another client has created it, with a label of CRI
			return nil, "", err
		}
	}
	if err != nil {
		recovery.Skip(ctx, recovery.Container, cntr.ID(), err)
		return knownOfContainer(info), cmp.Or(unreadable, err.Error()), nil
	}
	return meta, unreadable, nil
}

// knownOfContainer returns the part of a container's metadata that the rest of its record has.
func knownOfContainer(info containers.Container) *containerstore.Metadata {
	return &containerstore.Metadata{
		ID:        info.ID,
		Name:      info.ID, // its own name has a number that nothing else has
		SandboxID: info.SandboxID,
		ImageRef:  info.Image,
		Config: &runtime.ContainerConfig{
			Metadata: &runtime.ContainerMetadata{Name: cmp.Or(info.Labels[crilabels.KubernetesContainerNameLabel], info.ID)},
			Image:    &runtime.ImageSpec{Image: info.Image},
			Labels:   podsandbox.LabelsOfConfig(info.Labels),
		},
		StopSignal: "SIGTERM",
	}
}

// readMetadata returns the metadata of a sandbox from its record, or else the known part of it.
// The text is the reason if something cannot be read.
func readMetadata(ctx context.Context, record core.Sandbox) (sandboxstore.Metadata, string, error) {
	var meta sandboxstore.Metadata
	unreadable := metadata.Unreadable(record.Extensions)
	err := record.GetExtension(podsandbox.MetadataKey, &meta)
	if err == nil || unreadable == "" && errdefs.IsNotFound(err) {
		return meta, unreadable, err
	}
	recovery.Skip(ctx, recovery.Sandbox, record.ID, err)
	return *podsandbox.KnownOf(record.ID, record.Labels, record.Spec), cmp.Or(unreadable, err.Error()), nil
}

// noteUnreadable notes the reason why the record of a recovered sandbox cannot be fully read. The
// sandbox stays ready, because its container has all that it needs.
func noteUnreadable(sb *sandboxstore.Sandbox, record core.Sandbox) {
	reason := metadata.Unreadable(record.Extensions)
	if reason == "" {
		return
	}
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.Unreadable = cmp.Or(status.Unreadable, reason)
		return status, nil
	}) // it only returns the function's error
}

// showUnreadable adds the reason why something cannot be read to a verbose status.
func showUnreadable(unreadable string, info map[string]string) {
	if unreadable != "" {
		info[unreadableInfo] = unreadable
	}
}
