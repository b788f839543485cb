// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/containerd/containerd/v2/pkg/timeout"
)

// A gRPC shim counts as running until its connection ends, used or not.
func TestGRPCShimServesUntilItsConnectionEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	shim := grpc.NewServer()
	go func() { _ = shim.Serve(l) }()
	defer shim.Stop()
	gone := make(chan struct{})
	conn, err := grpcDialContext(path, func() { close(gone) }, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()

	require.Equal(t, connectivity.Ready, conn.GetState())
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, conn.UserOnCloseWait(short), context.DeadlineExceeded, "it serves")

	shim.Stop()
	long, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, conn.UserOnCloseWait(long))
	<-gone
}

// A shim that accepts no connection delays its caller by the time for loading a shim at most.
func TestSilentGRPCShimIsWaitedForWithinItsLoad(t *testing.T) {
	long := timeout.Get(loadTimeout)
	timeout.Set(loadTimeout, 50*time.Millisecond)
	defer timeout.Set(loadTimeout, long)
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	begun := time.Now()
	conn, err := grpcDialContext(path, func() {}, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.Less(t, time.Since(begun), long)
}
