// SPDX-License-Identifier: Apache-2.0

package podsandbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/containerd/errdefs"
	"github.com/containerd/typeurl/v2"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/sandbox"
	crilabels "github.com/containerd/containerd/v2/internal/cri/labels"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

type beforeStartKey struct{}

// WithBeforeStart has Start call do once the pause container is created, and start the
// container only if do succeeds. do waits for work that runs beside the creation, such as the
// network of the pod. Only the controller of this package supports it.
func WithBeforeStart(ctx context.Context, do func() error) context.Context {
	return context.WithValue(ctx, beforeStartKey{}, do)
}

// BeforeStart calls the function of WithBeforeStart. After it, BeforeStart sets the sysctls that
// the spec has for the network namespace again, so that they have the same values as if the
// function had run before the creation of the container.
func BeforeStart(ctx context.Context, netns string, spec *runtimespec.Spec) error {
	do, ok := ctx.Value(beforeStartKey{}).(func() error)
	if !ok {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	if err := setNetworkSysctls(ctx, netns, spec); err != nil {
		return fmt.Errorf("set the sysctls of network namespace %s again: %w", netns, err)
	}
	return nil
}

// NetworkKey is the field for which Update takes over the metadata of a sandbox that its
// attachment to the network has added.
const NetworkKey = "extensions." + MetadataKey + ".network"

// updateNetwork adds the addresses of a sandbox to the record of its pause container, from which
// the sandbox is recovered.
func (c *Controller) updateNetwork(ctx context.Context, id string, info sandbox.Sandbox, fields []string) error {
	if !slices.Contains(fields, NetworkKey) {
		return nil
	}
	var attached sandboxstore.Metadata
	if err := info.GetExtension(MetadataKey, &attached); err != nil {
		return fmt.Errorf("read the network of sandbox %q: %w", id, err)
	}
	podSandbox := c.store.Get(id)
	if podSandbox == nil || podSandbox.Container == nil {
		return nil
	}
	podSandbox.Metadata.CopyNetwork(&attached)
	return podSandbox.Container.Update(ctx, withNetwork(&attached))
}

func withNetwork(attached *sandboxstore.Metadata) containerd.UpdateContainerOpts {
	return func(_ context.Context, _ *containerd.Client, record *containers.Container) error {
		was, ok := record.Extensions[crilabels.SandboxMetadataExtension]
		if !ok {
			return fmt.Errorf("container of sandbox %q has no metadata: %w", record.ID, errdefs.ErrNotFound)
		}
		var metadata sandboxstore.Metadata
		if err := typeurl.UnmarshalTo(was, &metadata); err != nil {
			return fmt.Errorf("read the metadata of sandbox %q: %w", record.ID, err)
		}
		metadata.CopyNetwork(attached)
		extension, err := typeurl.MarshalAny(&metadata)
		if err != nil {
			return fmt.Errorf("write the metadata of sandbox %q: %w", record.ID, err)
		}
		record.Extensions[crilabels.SandboxMetadataExtension] = extension
		return nil
	}
}
