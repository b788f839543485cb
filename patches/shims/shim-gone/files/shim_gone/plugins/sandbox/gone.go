// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/ttrpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
)

const (
	// shutdownGrace is how long the shutdown of a shim goes on after its caller canceled.
	shutdownGrace = 10 * time.Second

	// stateDelay is how long the state of a gRPC connection may lag behind a call that failed.
	stateDelay = 100 * time.Millisecond
)

// withGrace returns a context that is canceled a grace period after its parent.
func withGrace(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		expired := time.AfterFunc(shutdownGrace, cancel)
		context.AfterFunc(ctx, func() { expired.Stop() })
	})
	return ctx, func() {
		stop()
		cancel()
	}
}

// isGone reports whether a call failed because its shim is gone: the shim is not listed any more,
// or its connection has ended.
func (c *controllerLocal) isGone(ctx context.Context, sandboxID string, err error) bool {
	if err == nil {
		return false
	}
	shim, missing := c.shims.Get(ctx, sandboxID)
	if missing != nil {
		return errdefs.IsNotFound(missing)
	}
	return isLost(shim.Client(), err)
}

// isLost reports whether a call failed because its connection ended. With gRPC the code alone does
// not show that, because a shim may answer Unavailable for the sandbox that it runs.
func isLost(client any, err error) bool {
	conn, ok := client.(interface {
		WaitForStateChange(context.Context, connectivity.State) bool
	})
	if !ok {
		return errors.Is(err, ttrpc.ErrClosed)
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled:
		ctx, cancel := context.WithTimeout(context.Background(), stateDelay)
		defer cancel()
		return conn.WaitForStateChange(ctx, connectivity.Ready)
	}
	return false
}
