// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/ttrpc"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	runtimeAPI "github.com/containerd/containerd/api/runtime/sandbox/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
)

// slow is a shim that does not answer a stop before its caller is gone.
type slow struct {
	asked   chan struct{}
	answers error // if set, the answer at once
}

func (s slow) stop(ctx context.Context) (*runtimeAPI.StopSandboxResponse, error) {
	if s.answers != nil {
		return nil, s.answers
	}
	close(s.asked)
	<-ctx.Done()
	return nil, ctx.Err()
}

type overGRPC struct {
	runtimeAPI.UnimplementedSandboxServer
	slow
}

func (s overGRPC) StopSandbox(ctx context.Context, _ *runtimeAPI.StopSandboxRequest) (*runtimeAPI.StopSandboxResponse, error) {
	return s.stop(ctx)
}

type overTTRPC struct {
	runtimeAPI.TTRPCSandboxService
	slow
}

func (s overTTRPC) StopSandbox(ctx context.Context, _ *runtimeAPI.StopSandboxRequest) (*runtimeAPI.StopSandboxResponse, error) {
	return s.stop(ctx)
}

// A connection is a connection to a shim. die ends the shim, drop closes containerd's side.
type connection struct {
	client    any
	die, drop func()
}

func connectGRPC(t *testing.T, s slow) connection {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	server := grpc.NewServer()
	runtimeAPI.RegisterSandboxServer(server, overGRPC{slow: s})
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	client, err := grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return connection{client, server.Stop, func() { _ = client.Close() }}
}

func connectTTRPC(t *testing.T, s slow) connection {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	server, err := ttrpc.NewServer()
	require.NoError(t, err)
	runtimeAPI.RegisterTTRPCSandboxService(server, overTTRPC{slow: s})
	go func() { _ = server.Serve(context.Background(), l) }()
	t.Cleanup(func() { _ = server.Close() })
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	client := ttrpc.NewClient(conn)
	t.Cleanup(func() { _ = client.Close() })
	return connection{client, func() { _ = server.Close() }, func() { _ = client.Close() }}
}

// A shim is gone when its connection has ended, during a call and before it, with gRPC and with
// ttrpc. A caller that cancels has not lost it.
func TestShimThatIsGone(t *testing.T) {
	for name, connect := range map[string]func(*testing.T, slow) connection{"gRPC": connectGRPC, "ttrpc": connectTTRPC} {
		t.Run(name, func(t *testing.T) {
			isGone := func(c connection, err error) bool { return isLost(c.client, err) }
			stop := func(ctx context.Context, c connection) error {
				service, err := sandbox.NewClient(c.client)
				require.NoError(t, err)
				_, err = service.StopSandbox(ctx, &runtimeAPI.StopSandboxRequest{})
				return err
			}
			for when, end := range map[string]func(connection){
				"dies":                 func(c connection) { c.die() },
				"is dropped by client": func(c connection) { c.drop() },
			} {
				t.Run(when+" during the call, and before the next", func(t *testing.T) {
					s := slow{asked: make(chan struct{})}
					c := connect(t, s)
					stopped := make(chan error)
					go func() { stopped <- stop(t.Context(), c) }()
					<-s.asked
					end(c)
					err := <-stopped
					require.True(t, isGone(c, err), "%v", err)
					err = stop(t.Context(), c)
					require.True(t, isGone(c, err), "%v", err)
				})
			}
			t.Run("caller cancels", func(t *testing.T) {
				s := slow{asked: make(chan struct{})}
				c := connect(t, s)
				ctx, cancel := context.WithCancel(t.Context())
				stopped := make(chan error)
				go func() { stopped <- stop(ctx, c) }()
				<-s.asked
				cancel()
				err := <-stopped
				require.False(t, isGone(c, err), "%v", err)
			})
			t.Run("caller's time is up", func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				c := connect(t, slow{asked: make(chan struct{})})
				err := stop(ctx, c)
				require.False(t, isGone(c, err), "%v", err)
			})
			for _, code := range []codes.Code{codes.Unavailable, codes.Canceled} {
				t.Run("shim answers "+code.String(), func(t *testing.T) {
					c := connect(t, slow{answers: status.Error(code, "the sandbox does not answer")})
					err := stop(t.Context(), c)
					require.Equal(t, code, status.Code(err))
					require.False(t, isGone(c, err), "%v", err)
				})
			}
		})
	}
}
