// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/containerd/log"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/util"
)

// CreatingSandboxes returns the sandboxes that are being created.
func (i *criImplementation) CreatingSandboxes() []sandboxstore.Sandbox { return i.c.creating.List() }

// endCreating removes a sandbox whose creation failed from the list. If it was listed to plugins,
// they receive its end.
func (c *criService) endCreating(sandbox sandboxstore.Sandbox) {
	if listed := c.creating.Delete(sandbox.ID); !listed {
		return
	}
	// A plugin that is being synchronized can receive the end once it is registered. The block waits
	// for its registration, and for all that the registration waits for. The roll-back does not.
	go func() {
		defer c.nri.BlockPluginSync().Unblock()
		ctx, cancel := util.DeferContext()
		defer cancel()
		if err := c.nri.UndoRunPodSandbox(ctx, &sandbox); err != nil {
			log.G(ctx).WithError(err).Errorf("failed to send the end of sandbox %q to NRI plugins", sandbox.ID)
		}
	}()
}
