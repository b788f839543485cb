// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"github.com/containerd/containerd/v2/pkg/timeout"
)

// awaitConnection connects, and returns when the connection is ready or has failed, or when
// the time is up in which a shim has to be loaded at start. From then on it is idle only if
// it was lost.
func awaitConnection(client *grpc.ClientConn) {
	ctx, cancel := timeout.WithContext(context.Background(), loadTimeout)
	defer cancel()
	client.Connect()
	for {
		switch state := client.GetState(); state {
		case connectivity.Idle, connectivity.Connecting:
			if !client.WaitForStateChange(ctx, state) {
				return
			}
		default:
			return
		}
	}
}
