// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/internal/cri/store/label"
)

// A reserved sandbox cannot be found until it is committed, and can be added after it was
// released.
func TestReservedSandboxIsHidden(t *testing.T) {
	s := NewStore(label.NewStore(), nil)
	sb := NewSandbox(Metadata{ID: "0123456789"}, Status{State: StateUnknown})
	hidden := func() {
		t.Helper()
		_, err := s.Get(sb.ID)
		require.ErrorIs(t, err, errdefs.ErrNotFound)
		require.Empty(t, s.List())
	}

	require.NoError(t, s.Reserve(sb))
	require.Error(t, s.Reserve(sb))
	hidden()
	s.Release(sb)
	hidden()

	require.NoError(t, s.Reserve(sb))
	s.Commit(sb)
	got, err := s.Get("0123")
	require.NoError(t, err)
	require.Equal(t, sb.ID, got.ID)
	require.ErrorIs(t, s.Reserve(sb), errdefs.ErrAlreadyExists)
	s.Delete(sb.ID)
	require.NoError(t, s.Add(sb))
}
