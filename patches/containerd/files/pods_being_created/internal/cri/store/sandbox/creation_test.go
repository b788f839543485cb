// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func creating(id string) Sandbox { return NewSandbox(Metadata{ID: id}, Status{State: StateUnknown}) }

func TestCreationIsListedUntilItsEnd(t *testing.T) {
	var c Creations
	_, first := c.Begin(t.Context(), creating("first"))
	_, second := c.Begin(t.Context(), creating("second"))
	changed := creating("first")
	changed.NetNSPath = "/run/netns/first"
	first.Update(changed)

	list := c.List()
	require.Len(t, list, 2)
	require.Equal(t, "/run/netns/first", list[0].NetNSPath)
	require.False(t, list[0].Since.IsZero())
	require.True(t, c.Has("first"))

	require.NoError(t, first.End(nil))
	require.False(t, c.Has("first"))
	require.NoError(t, second.End(nil))
	require.Empty(t, c.List())
}

// What made the creation fail is what its caller hears, with what came of it.
func TestFailedCreationSaysWhy(t *testing.T) {
	var c Creations
	ctx, n := c.Begin(t.Context(), creating("pod"))
	died := errors.New("process died")
	n.Fail(died)
	n.Fail(errors.New("this comes second"))

	require.ErrorIs(t, context.Cause(ctx), died)
	require.ErrorIs(t, n.Seal(), died)
	err := n.End(ctx.Err())
	require.ErrorIs(t, err, died)
	require.ErrorContains(t, err, "context canceled")
	require.NotErrorIs(t, err, context.Canceled)
}

func TestSealedCreationCannotFail(t *testing.T) {
	var c Creations
	ctx, n := c.Begin(t.Context(), creating("pod"))
	require.NoError(t, n.Seal())
	n.Fail(errors.New("too late"))
	require.NoError(t, ctx.Err())
	require.NoError(t, n.End(nil))
	require.Error(t, ctx.Err(), "nothing holds on to the context")
}

// The end of what is being undone is not why it failed.
func TestUndoneCreationKeepsItsReason(t *testing.T) {
	var c Creations
	ctx, n := c.Begin(t.Context(), creating("pod"))
	refused := errors.New("refused")
	n.Undo()
	n.Fail(errors.New("process died"))
	require.NoError(t, ctx.Err())
	require.Equal(t, refused, n.End(refused))
}

// Whoever aborts a creation waits until it is over.
func TestAbortWaitsForTheEnd(t *testing.T) {
	var c Creations
	stopped := errors.New("stopped")
	require.NoError(t, c.Abort(t.Context(), "none", stopped))

	ctx, n := c.Begin(t.Context(), creating("pod"))
	gone, giveUp := context.WithCancel(t.Context())
	giveUp()
	require.ErrorIs(t, c.Abort(gone, "pod", stopped), context.Canceled)

	aborted := make(chan error)
	go func() { aborted <- c.Abort(t.Context(), "pod", stopped) }()
	<-ctx.Done()
	select {
	case <-aborted:
		t.Fatal("Abort returned before the creation was over")
	default:
	}
	require.ErrorIs(t, n.End(ctx.Err()), stopped)
	require.NoError(t, <-aborted)
}
