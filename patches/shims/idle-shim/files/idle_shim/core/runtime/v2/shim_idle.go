// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"github.com/containerd/containerd/v2/pkg/timeout"
)

// awaitConnection connects, and returns when the connection is ready or has failed, or after the
// time for loading a shim. From then on, an idle connection is a lost one.
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
