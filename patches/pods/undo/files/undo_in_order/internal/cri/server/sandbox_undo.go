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

// keepSandbox puts a sandbox whose creation failed, and of which something is left,
// into the store, where the kubelet sees it as not ready and removes it.
func (c *criService) keepSandbox(ctx context.Context, sandbox sandboxstore.Sandbox, left error) {
	log.G(ctx).WithError(left).Errorf("sandbox %q stays as not ready, since its creation failed and was not rolled back", sandbox.ID)
	if sandbox.NetNS == nil && !hostNetwork(sandbox.Config) {
		sandbox.NetNS = netns.LoadNetNS(sandbox.NetNSPath) // it was not created, and others read it
	}
	if err := c.sandboxStore.Add(sandbox); err != nil {
		log.G(ctx).WithError(err).Errorf("failed to add sandbox %q to the store", sandbox.ID)
	}
}

// undoNetNS removes the network namespace of a sandbox, as far as it was made.
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

// undoNetwork takes a sandbox off its network. A failure keeps nothing if the
// sandbox never got on it.
func (c *criService) undoNetwork(ctx context.Context, sandbox sandboxstore.Sandbox) error {
	err := c.teardownPodNetwork(ctx, sandbox)
	if err == nil {
		return nil
	}
	if sandbox.CNIResult == nil {
		log.G(ctx).WithError(err).Errorf("failed to take sandbox %q off a network that it did not get on", sandbox.ID)
		return nil
	}
	return err
}

// shutdownSandbox shuts down a sandbox whose creation failed. A shim that died is
// still listed for a moment, in which all calls to it fail: the call is retried.
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

// unlessNotFound is the error of a removal: what is not there need not be removed.
func unlessNotFound(err error) error {
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}
