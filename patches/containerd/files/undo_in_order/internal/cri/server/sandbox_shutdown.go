// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"

	"github.com/containerd/containerd/v2/internal/cri/util"
)

// shutdownSandbox shuts down a sandbox whose creation failed. A shim that died is
// still listed for a moment, in which all calls to it fail: the call is retried.
func (c *criService) shutdownSandbox(ctx context.Context, sandboxer, id string) error {
	const longest = time.Second
	for pause := 50 * time.Millisecond; ; pause *= 2 {
		err := c.sandboxService.ShutdownSandbox(ctx, sandboxer, id)
		if err == nil || errdefs.IsNotFound(err) {
			return nil
		}
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
