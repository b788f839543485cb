// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"
	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// podResourcesKey is of the extension in a sandbox's record that keeps what its
// containers ask for over a restart.
const podResourcesKey = "podresources"

// announce reads what the containers of a sandbox that is being created ask for
// and keeps it with the sandbox. What cannot be read is logged and ignored (R4).
func announce(ctx context.Context, sb *sandboxstore.Sandbox, record *sandbox.Sandbox) error {
	announced, source, err := podresources.Announced(sb.Config)
	if err != nil {
		ignoreResources(ctx, string(source), sb.Config.GetMetadata(), err)
		return nil
	}
	if announced == nil {
		return nil
	}
	setPodResources(sb, announced)
	return record.AddExtension(podResourcesKey, announced)
}

// ignoreResources logs and counts what a client told and nobody can read.
func ignoreResources(ctx context.Context, source string, pod *runtime.PodSandboxMetadata, err error) {
	podResourcesIgnored.WithValues(source).Inc()
	log.G(ctx).WithError(err).Warnf("ignoring the resources in the %s of pod %s/%s", source, pod.GetNamespace(), pod.GetName())
}

func setPodResources(sb *sandboxstore.Sandbox, announced *podresources.PodResourceConfig) {
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.PodResources = announced
		return status, nil
	}) // it has no error but that of the function
}

// announcedConfig is the configuration for the controller of a sandbox, which
// reads what containers ask for in one place, wherever it came from.
func announcedConfig(sb *sandboxstore.Sandbox) *runtime.PodSandboxConfig {
	announced := sb.Status.Get().PodResources
	if announced == nil {
		return sb.Config
	}
	config := proto.CloneOf(sb.Config)
	if podresources.Set(config, announced) != nil {
		return sb.Config // which cannot be: it was read
	}
	return config
}

// recoverPodResources gives sandboxes from before a restart what was kept.
func (c *criService) recoverPodResources(ctx context.Context, records []sandbox.Sandbox) {
	for _, record := range records {
		kept := &podresources.PodResourceConfig{}
		err := record.GetExtension(podResourcesKey, kept)
		if errdefs.IsNotFound(err) {
			continue
		}
		sb, missing := c.sandboxStore.Get(record.ID)
		if err = errors.Join(err, missing); err != nil {
			log.G(ctx).WithError(err).Warnf("failed to read what the containers of sandbox %q ask for", record.ID)
			continue
		}
		setPodResources(&sb, kept)
	}
}

// keepPodResources keeps what the containers of a sandbox ask for from now on.
// No lock is held over the store: whoever wrote looks whether it was the last
// word, and else writes again.
func (c *criService) keepPodResources(ctx context.Context, sb *sandboxstore.Sandbox, change func(*podresources.PodResourceConfig) *podresources.PodResourceConfig) error {
	var before, now *podresources.PodResourceConfig
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		before, now = status.PodResources, change(status.PodResources)
		status.PodResources = now
		return status, nil
	})
	if now == before {
		return nil
	}
	for written := before; written != now; now = sb.Status.Get().PodResources {
		record, err := c.client.SandboxStore().Get(ctx, sb.ID)
		if err != nil {
			return fmt.Errorf("failed to get sandbox %q from sandbox store: %w", sb.ID, err)
		}
		if err := record.AddExtension(podResourcesKey, now); err != nil {
			return err
		}
		if _, err := c.client.SandboxStore().Update(ctx, record, "extensions."+podResourcesKey); err != nil {
			return fmt.Errorf("failed to keep the resources of sandbox %q: %w", sb.ID, err)
		}
		written = now
	}
	return nil
}

// updatedPodResources is what a request says of a pod's containers, or nil.
func updatedPodResources(ctx context.Context, sb *sandboxstore.Sandbox, r *runtime.UpdatePodSandboxResourcesRequest) *podresources.PodResourceConfig {
	asked, err := podresources.FromPodUpdate(r)
	if err != nil {
		ignoreResources(ctx, "update", sb.Config.GetMetadata(), err)
	}
	return asked
}

// updatedResources is what a request says of a container, or nil.
func updatedResources(ctx context.Context, sb *sandboxstore.Sandbox, r *runtime.UpdateContainerResourcesRequest) *podresources.KubernetesResources {
	asked, err := podresources.FromUpdate(r)
	if err != nil {
		ignoreResources(ctx, "container update", sb.Config.GetMetadata(), err)
	}
	return asked
}

// keepContainerResources keeps what a container asks for from now on, and with
// its pod if it was announced there.
func (c *criService) keepContainerResources(ctx context.Context, sb *sandboxstore.Sandbox, container *containerstore.Container, asked *podresources.KubernetesResources) error {
	if asked == nil {
		return nil
	}
	if err := container.Status.UpdateSync(func(status containerstore.Status) (containerstore.Status, error) {
		status.KubernetesResources = asked
		return status, nil
	}); err != nil {
		return fmt.Errorf("failed to keep the resources of container %q: %w", container.ID, err)
	}
	name := container.Config.GetMetadata().GetName()
	return c.keepPodResources(ctx, sb, func(announced *podresources.PodResourceConfig) *podresources.PodResourceConfig {
		return announced.WithContainer(name, asked)
	})
}

// showPodResources adds what the containers of a sandbox ask for to its verbose
// status.
func showPodResources(sb *sandboxstore.Sandbox, info map[string]string) error {
	announced := sb.Status.Get().PodResources
	if announced == nil {
		return nil
	}
	text, err := podresources.ToAnnotation(announced)
	if err != nil {
		return err
	}
	info["podResources"] = text
	return nil
}
