// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/containerd/log"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// podUpdate is what a request says that the containers of a pod ask for from now
// on, or nil.
func podUpdate(ctx context.Context, sb *sandboxstore.Sandbox, r *runtime.UpdatePodSandboxResourcesRequest) *podresources.Announcement {
	asked, err := podresources.Updated(r)
	if err != nil {
		ignoreResources(ctx, sb, "pod update", err)
	}
	return asked
}

// containerUpdate is what a request says that a container asks for from now on, or
// nil.
func containerUpdate(ctx context.Context, sb *sandboxstore.Sandbox, r *runtime.UpdateContainerResourcesRequest) *podresources.KubernetesResources {
	asked, err := podresources.FromUpdate(r)
	if err != nil {
		ignoreResources(ctx, sb, "container update", err)
	}
	return asked
}

// changeContainer takes what a container asks for from now on into what was
// announced of its pod, so that both tell the same. It is for keepPodResources to
// keep it.
func changeContainer(ctx context.Context, sb *sandboxstore.Sandbox, name string, asked *podresources.KubernetesResources) {
	if asked == nil {
		return
	}
	var err error
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		var changed *podresources.Announcement
		if changed, err = status.PodResources.WithContainer(name, asked); err == nil {
			status.PodResources = changed
		}
		return status, nil
	}) // it has no error but that of the function
	if err != nil {
		ignoreResources(ctx, sb, "container", err)
	}
}

// keepPodResources keeps what the containers of a sandbox ask for by now. What was
// done by the request is done, so a failure is logged. No lock is held over the
// store: whoever wrote looks whether it was the last word, and else writes again.
func (c *criService) keepPodResources(ctx context.Context, sb *sandboxstore.Sandbox) {
	var written *podresources.Announcement
	for now := sb.Status.Get().PodResources; now != written; now = sb.Status.Get().PodResources {
		if err := c.writePodResources(ctx, sb.ID, now); err != nil {
			log.G(ctx).WithError(err).Warnf("a restart will forget what was changed of the resources of sandbox %q", sb.ID)
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
