// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/containerd/errdefs"
	"github.com/containerd/log"

	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/util"
)

// restoreController gives the controller of a sandbox the resources that hold, after an update has
// failed: those of the last update that was recorded, or those of the creation.
func (c *criService) restoreController(sb *sandboxstore.Sandbox) {
	ctx, cancel := util.DeferContext()
	defer cancel()
	record, err := c.client.SandboxStore().Get(ctx, sb.ID)
	if _, updated := record.Extensions[podsandbox.UpdatedResourcesKey]; err == nil && !updated {
		created := sb.Config.GetLinux()
		err = record.AddExtension(podsandbox.UpdatedResourcesKey,
			&podsandbox.UpdatedResources{Overhead: created.GetOverhead(), Resources: created.GetResources()})
	}
	if err == nil {
		err = c.sandboxService.UpdateSandbox(ctx, record.Sandboxer, sb.ID, record, "extensions")
	}
	if err != nil && !errdefs.IsNotImplemented(err) {
		log.G(ctx).WithError(err).Errorf("failed to restore the resources of sandbox %q in its controller", sb.ID)
	}
}
