// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"fmt"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"
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
	conn := serving(t, knows{Switches: &oneSwitch{}})
	off, err := TurnOff(ctx, conn, "10-one")
	require.NoError(t, err)
	require.Equal(t, TurnedOff{WasConnected: true, RequiredFor: []string{"pods"}}, off)
	require.NoError(t, TurnOn(ctx, conn, "10-one"))
	err = TurnOn(ctx, conn, "10-one")
	require.True(t, errdefs.IsNotFound(err), "%v", err)
}
