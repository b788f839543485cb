// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/containerd/log"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/podresources"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// podUpdate returns the new resources of a pod's containers, nil if the request
// has none.
func podUpdate(ctx context.Context, sb *sandboxstore.Sandbox, r *runtime.UpdatePodSandboxResourcesRequest) *podresources.Announcement {
	asked, err := podresources.Updated(r)
	if err != nil {
		ignoreResources(ctx, sb, "pod update", err)
	}
	return asked
}

// containerUpdate returns the new resources of a container, nil if the request has
// none.
func containerUpdate(ctx context.Context, sb *sandboxstore.Sandbox, r *runtime.UpdateContainerResourcesRequest) *podresources.KubernetesResources {
	asked, err := podresources.FromUpdate(r)
	if err != nil {
		ignoreResources(ctx, sb, "container update", err)
	}
	return asked
}

// recordUpdate adds the new resources of a pod's containers to its record, and returns the
// parts of the record that an update of the pod writes. The sandbox's controller receives the
// record.
func recordUpdate(ctx context.Context, record *sandbox.Sandbox, asked *podresources.Announcement) []string {
	changed := []string{"extensions." + podsandbox.UpdatedResourcesKey}
	if asked == nil {
		return changed
	}
	if err := record.AddExtension(podResourcesKey, asked.Kept()); err != nil {
		log.G(ctx).WithError(err).Warnf("a restart will lose the update of the resources of sandbox %q", record.ID)
		return changed
	}
	return append(changed, "extensions."+podResourcesKey)
}

// followContainer copies the resources that a container has after an update into the
// announcement of its pod. It reads them under the lock of the sandbox's status, so after
// several updates at once, the container and the announcement have the same.
func followContainer(ctx context.Context, sb *sandboxstore.Sandbox, container *containerstore.Container) {
	changeContainer(ctx, sb, container.Config.GetMetadata().GetName(), func() *podresources.KubernetesResources {
		return container.Status.Get().KubernetesResources
	})
}

// changeContainer copies the new resources of a container into the announcement of its pod,
// so that both agree. Only keepPodResources saves them.
func changeContainer(ctx context.Context, sb *sandboxstore.Sandbox, name string, resources func() *podresources.KubernetesResources) {
	var err error
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		asked := resources()
		if asked == nil {
			return status, nil
		}
		var changed *podresources.Announcement
		if changed, err = status.PodResources.WithContainer(name, asked); err == nil {
			status.PodResources = changed
		}
		return status, nil
	}) // it only returns the function's error
	if err != nil {
		ignoreResources(ctx, sb, "container", err)
	}
}

// keepPodResources saves the current resources of a sandbox's containers. The
// request has taken effect already, so a failure is only logged. No lock is held
// while the store writes: if the resources changed meanwhile, they are written again.
func (c *criService) keepPodResources(ctx context.Context, sb *sandboxstore.Sandbox) {
	var written *podresources.Announcement
	for now := sb.Status.Get().PodResources; now != written; now = sb.Status.Get().PodResources {
		if err := c.writePodResources(ctx, sb.ID, now); err != nil {
			log.G(ctx).WithError(err).Warnf("a restart will lose the update of the resources of sandbox %q", sb.ID)
			return
		}
		written = now
	}
}

func (c *criService) writePodResources(ctx context.Context, id string, announced *podresources.Announcement) error {
	record, err := c.client.SandboxStore().Get(ctx, id)
	if err != nil {
		return err
	}
	if err := record.AddExtension(podResourcesKey, announced.Kept()); err != nil {
		return err
	}
	_, err = c.client.SandboxStore().Update(ctx, record, "extensions."+podResourcesKey)
	return err
}
