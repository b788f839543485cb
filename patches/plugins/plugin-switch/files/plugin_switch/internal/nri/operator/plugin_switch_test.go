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

type oneSwitch struct{ off bool }

func (s *oneSwitch) TurnOffPlugin(_ context.Context, name string) (TurnedOff, error) {
	s.off = true
	return TurnedOff{WasConnected: name == "10-one", RequiredFor: []string{"pods"}}, nil
}

func (s *oneSwitch) TurnOnPlugin(_ context.Context, name string) error {
	if !s.off {
		return fmt.Errorf("plugin %q is not turned off: %w", name, errdefs.ErrNotFound)
	}
	s.off = false
	return nil
}

// Requests and replies reach the other end whole.
func TestSwitchRequests(t *testing.T) {
	ctx := t.Context()
	socket := filepath.Join(t.TempDir(), "grpc.sock")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	s := grpc.NewServer()
	one := &oneSwitch{}
	Serve(s, knows{Switches: one})
	go s.Serve(l)
	defer s.Stop()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()

	off, err := TurnOff(ctx, conn, "10-one")
	require.NoError(t, err)
	require.Equal(t, TurnedOff{WasConnected: true, RequiredFor: []string{"pods"}}, off)
	require.NoError(t, TurnOn(ctx, conn, "10-one"))
	err = TurnOn(ctx, conn, "10-one")
	require.True(t, errdefs.IsNotFound(err), "%v", err)
}
