// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// connectTime is how long a gRPC shim has to take a connection. Its socket was there
// the moment before.
const connectTime = 10 * time.Second

// awaitConnection connects, and returns when the connection is ready or has failed.
// From then on it is idle only if it was lost.
func awaitConnection(client *grpc.ClientConn) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
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
