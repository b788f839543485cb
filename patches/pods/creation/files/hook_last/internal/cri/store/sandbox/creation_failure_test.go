// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// The error has the reason of the failure, and the error that resulted from it.
func TestFailedCreationSaysWhy(t *testing.T) {
	var c Creations
	n := c.Begin(creating("pod"))
	ctx := n.Context(t.Context())
	died := errors.New("process died")
	n.Fail(died)
	n.Fail(errors.New("this comes second"))

	require.ErrorIs(t, context.Cause(ctx), died)
	require.ErrorIs(t, n.Seal(ctx), died)
	err := n.Explain(ctx.Err())
	require.ErrorIs(t, err, died)
	require.ErrorContains(t, err, "context canceled")
	require.NotErrorIs(t, err, context.Canceled)
}

func TestSealedCreationCannotFail(t *testing.T) {
	var c Creations
	n := c.Begin(creating("pod"))
	ctx := n.Context(t.Context())
	require.NoError(t, n.Seal(ctx))
	n.Fail(errors.New("too late"))
	require.NoError(t, ctx.Err())
	require.NoError(t, n.Explain(nil))
	require.Error(t, ctx.Err(), "the context is released")
}

// The last plugin may approve the pod at the moment in which the caller cancels. No caller would know
// of the pod then.
func TestCreationOfACallerThatCanceledIsNotSealed(t *testing.T) {
	var c Creations
	n := c.Begin(creating("pod"))
	caller, cancel := context.WithCancel(t.Context())
	ctx := n.Context(caller)
	cancel()
	require.ErrorIs(t, n.Seal(ctx), context.Canceled)
}

// The exit of a sandbox that is being rolled back is not the reason of its failure.
func TestUndoneCreationKeepsItsReason(t *testing.T) {
	var c Creations
	n := c.Begin(creating("pod"))
	ctx := n.Context(t.Context())
	rejected := errors.New("rejected")
	n.Undo()
	n.Fail(errors.New("process died"))
	require.NoError(t, ctx.Err())
	require.Equal(t, rejected, n.Explain(rejected))
}

// A sandbox is listed, and may be made to fail, before its creation has a context.
func TestCreationThatFailedBeforeItsContext(t *testing.T) {
	var c Creations
	n := c.Begin(creating("pod"))
	died := errors.New("process died")
	n.Fail(died)
	ctx := n.Context(t.Context())
	require.ErrorIs(t, context.Cause(ctx), died)
	require.ErrorIs(t, n.Explain(ctx.Err()), died)
}
