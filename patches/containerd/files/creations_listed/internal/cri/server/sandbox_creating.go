// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/containerd/log"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/util"
)

// CreatingSandboxes returns the sandboxes that are being created.
func (i *criImplementation) CreatingSandboxes() []sandboxstore.Sandbox { return i.c.creating.List() }

// endCreating ends the listing of a sandbox as one that is being created. If its creation
// failed, plugins that have found it there are told of its end. It may be called again.
func (c *criService) endCreating(sandbox *sandboxstore.Sandbox, failed bool) {
	c.creating.Delete(sandbox.ID)
	if !failed {
		return
	}
	// One that is being synchronized may have found it, and can be told when it is registered.
	defer c.nri.BlockPluginSync().Unblock()
	ctx, cancel := util.DeferContext()
	defer cancel()
	if err := c.nri.UndoRunPodSandbox(ctx, sandbox); err != nil {
		log.G(ctx).WithError(err).Errorf("failed to tell NRI plugins of the end of sandbox %q", sandbox.ID)
	}
}
