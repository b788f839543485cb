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

// What cannot be read of a sandbox or container leaves it in CRI's lists: as unknown, or not
// ready, so that it is stopped and removed like any other. All that looks for what is not in
// the lists, to remove it, finds it there.

// unreadableInfo is the key of a verbose status for what could not be read.
const unreadableInfo = "unreadable"

// metadataOf returns the metadata of a container, or what else is known of it if that cannot
// be read, and why something cannot be.
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
		if unreadable == "" { // another client has made it, with a label of CRI
			return nil, "", err
		}
	}
	if err != nil {
		recovery.PassOver(ctx, recovery.Container, cntr.ID(), err)
		return knownOfContainer(info), cmp.Or(unreadable, err.Error()), nil
	}
	return meta, unreadable, nil
}

// knownOfContainer is what the record of a container says beside its metadata.
func knownOfContainer(info containers.Container) *containerstore.Metadata {
	return &containerstore.Metadata{
		ID:        info.ID,
		Name:      info.ID, // its own has a number that nothing else tells
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

// readMetadata returns the metadata of a sandbox from its record, what else is known of it if
// something of that cannot be read, and why.
func readMetadata(ctx context.Context, record core.Sandbox) (sandboxstore.Metadata, string, error) {
	var meta sandboxstore.Metadata
	unreadable := metadata.Unreadable(record.Extensions)
	err := record.GetExtension(podsandbox.MetadataKey, &meta)
	if err == nil || unreadable == "" && errdefs.IsNotFound(err) {
		return meta, unreadable, err
	}
	recovery.PassOver(ctx, recovery.Sandbox, record.ID, err)
	return *podsandbox.KnownOf(record.ID, record.Labels, record.Spec), cmp.Or(unreadable, err.Error()), nil
}

// noteUnreadable notes of a sandbox that was recovered what could not be read of its record.
// It is as ready as it was: its container has what it needs.
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

// showUnreadable puts what could not be read into a verbose status.
func showUnreadable(unreadable string, info map[string]string) {
	if unreadable != "" {
		info[unreadableInfo] = unreadable
	}
}
