// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/internal/cri/store/label"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// An id may be shortened as long as it matches one sandbox, in creation or in the store.
func TestShortenedIDs(t *testing.T) {
	c := &criService{sandboxStore: sandboxstore.NewStore(label.NewStore(), nil)}
	sandbox := func(id string) sandboxstore.Sandbox {
		return sandboxstore.NewSandbox(sandboxstore.Metadata{ID: id}, sandboxstore.Status{})
	}
	require.NoError(t, c.sandboxStore.Add(sandbox("aa11")))
	early, hooked, both := sandbox("ab22"), sandbox("bb33"), sandbox("cc44")
	for _, sb := range []sandboxstore.Sandbox{early, hooked, both} {
		c.creations.Begin(sb)
	}
	require.NoError(t, c.sandboxStore.Reserve(hooked))
	require.NoError(t, c.sandboxStore.Add(both)) // its creation is about to end

	for prefix, want := range map[string]string{
		"aa": "aa11", "aa11": "aa11", "ab": "ab22", "ab22": "ab22", "b": "bb33", "bb33": "bb33", "c": "cc44",
	} {
		id, err := c.wholeID(prefix)
		require.NoError(t, err, prefix)
		require.Equal(t, want, id)
	}
	for _, none := range []string{"d", "aa111", "11"} {
		_, err := c.wholeID(none)
		require.ErrorIs(t, err, errdefs.ErrNotFound, none)
		id, err := c.abortCreation(t.Context(), none, "stopped")
		require.NoError(t, err)
		require.Equal(t, none, id)
	}
	for _, several := range []string{"a", ""} {
		_, err := c.abortCreation(t.Context(), several, "stopped")
		require.Error(t, err, "%q", several)
		require.NotErrorIs(t, err, errdefs.ErrNotFound)
	}
	require.ErrorIs(t, c.rejectCreating("ab"), errdefs.ErrFailedPrecondition)
	require.ErrorIs(t, c.rejectCreating("bb"), errdefs.ErrFailedPrecondition)
	require.NoError(t, c.rejectCreating("aa"))
	require.NoError(t, c.rejectCreating("a"))
}
