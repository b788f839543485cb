// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/util"
	"github.com/containerd/containerd/v2/pkg/netns"
)

// keepSandbox puts a sandbox whose creation failed and could not be rolled back into the
// store. The kubelet finds it not ready there, and removes it.
func (c *criService) keepSandbox(ctx context.Context, sandbox sandboxstore.Sandbox, left error) {
	log.G(ctx).WithError(left).Errorf("sandbox %q stays in the list, not ready, because its creation failed and could not be rolled back", sandbox.ID)
	if sandbox.NetNS == nil && !hostNetwork(sandbox.Config) {
		sandbox.NetNS = netns.LoadNetNS(sandbox.NetNSPath) // it was not created, and other code reads the field
	}
	if err := c.sandboxStore.Add(sandbox); err != nil {
		log.G(ctx).WithError(err).Errorf("failed to add sandbox %q to the store", sandbox.ID)
	}
}

// undoNetNS removes the network namespace of a sandbox, as far as it was created.
func undoNetNS(sandbox *sandboxstore.Sandbox) error {
	ns := sandbox.NetNS
	switch {
	case ns != nil:
	case sandbox.NetNSPath != "":
		ns = netns.LoadNetNS(sandbox.NetNSPath)
	default:
		return nil
	}
	if err := ns.Remove(); err != nil {
		return err
	}
	sandbox.NetNSPath = ""
	return nil
}

// undoNetwork detaches a sandbox from its network. If the sandbox was never attached, a
// failure is only logged.
func (c *criService) undoNetwork(ctx context.Context, sandbox sandboxstore.Sandbox) error {
	err := c.teardownPodNetwork(ctx, sandbox)
	if err == nil {
		return nil
	}
	if sandbox.CNIResult == nil {
		log.G(ctx).WithError(err).Errorf("failed to detach sandbox %q from a network to which it was never attached", sandbox.ID)
		return nil
	}
	return err
}

// shutdownSandbox shuts down a sandbox whose creation failed. It retries for a moment,
// because a shim that died is still listed for some time, in which all calls to it fail.
func (c *criService) shutdownSandbox(ctx context.Context, sandboxer, id string) error {
	const longest = time.Second
	for pause := 50 * time.Millisecond; ; pause *= 2 {
		err := unlessNotFound(c.sandboxService.ShutdownSandbox(ctx, sandboxer, id))
		gone := util.IsShimTTRPCClosed(err) || errdefs.IsUnavailable(err) // over ttrpc, over gRPC
		if !gone || pause > longest {
			return err
		}
		log.G(ctx).WithError(err).Warnf("shim of sandbox %q is gone, shutting down the sandbox again in %s", id, pause)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// unlessNotFound returns the error of a removal, or nil if there was nothing to remove.
func unlessNotFound(err error) error {
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}
