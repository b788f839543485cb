// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"

	"github.com/containerd/ttrpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// isGone tells from the error of a call whether the shim is gone: its connection is
// closed, or cannot be made again. With gRPC, a call over a connection that was closed
// here is canceled, though its caller did not cancel it.
func isGone(ctx context.Context, err error) bool {
	switch status.Code(err) {
	case codes.Unavailable:
		return true
	case codes.Canceled:
		return ctx.Err() == nil
	}
	return errors.Is(err, ttrpc.ErrClosed)
}
