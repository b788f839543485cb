// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// knows is an NRI with the number of missed events of each plugin.
type knows struct {
	ends map[string]int
}

func (k knows) ForgetPlugin(name string) (int, error) {
	ends, ok := k.ends[name]
	if !ok {
		return 0, fmt.Errorf("plugin %q is not disconnected: %w", name, errdefs.ErrNotFound)
	}
	delete(k.ends, name)
	return ends, nil
}

// serving returns a connection to a server of the service.
func serving(t *testing.T, n NRI, options ...grpc.ServerOption) *grpc.ClientConn {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "grpc.sock")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	s := grpc.NewServer(options...)
	Serve(s, n)
	go s.Serve(l)
	t.Cleanup(s.Stop)
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// A request on the socket reaches NRI, with and without interceptors, and errors keep their
// class.
func TestForget(t *testing.T) {
	seen := ""
	for name, options := range map[string][]grpc.ServerOption{
		"plain": nil,
		"with an interceptor": {grpc.UnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			seen = info.FullMethod
			return handle(ctx, request)
		})},
	} {
		t.Run(name, func(t *testing.T) {
			conn := serving(t, knows{ends: map[string]int{"10-gone": 7}}, options...)
			ends, err := Forget(t.Context(), conn, "10-gone")
			require.NoError(t, err)
			require.Equal(t, 7, ends)
			_, err = Forget(t.Context(), conn, "10-gone")
			require.True(t, errdefs.IsNotFound(err), "%v", err)
			require.ErrorContains(t, err, `plugin "10-gone" is not disconnected`)
		})
	}
	require.Equal(t, "/containerd.internal.nri.v1.Operator/Forget", seen)
}
