// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
)

// failing is how a creation is made to fail. The lock of Creations guards it.
type failing struct {
	cancel  context.CancelCauseFunc // of the context that Context returned
	sealed  bool
	undone  bool  // it failed by itself, and is being undone
	failure error // why it must not go on, other than the caller's doing
}

// Context returns a context that ends with the caller's, and when the creation
// is made to fail. Explain ends it.
func (n *Creation) Context(ctx context.Context) context.Context {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	ctx, n.cancel = context.WithCancelCause(ctx)
	if n.failure != nil {
		n.cancel(n.failure) // it was listed before it had a context
	}
	return ctx
}

// Undo says that the creation has failed and is being undone. What ends from
// here on, as the sandbox's process does, is not why.
func (n *Creation) Undo() {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.undone = true
}

// Fail makes the creation fail, unless it is sealed or has failed.
func (n *Creation) Fail(reason error) {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	if n.sealed || n.undone || n.failure != nil {
		return
	}
	n.failure = reason
	if n.cancel != nil {
		n.cancel(reason)
	}
}

// Seal is the last moment in which the creation can fail: it returns why, or
// nil if it can no more.
func (n *Creation) Seal() error {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.sealed = n.failure == nil
	return n.failure
}

// Explain returns the error that a creation ended with, with the reason for it
// if it was made to fail.
func (n *Creation) Explain(err error) error {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.cancel(nil)
	if err == nil || n.failure == nil || errors.Is(err, n.failure) {
		return err
	}
	// What failed in the end did so because the context ended: the reason has
	// the error's class.
	return fmt.Errorf("%w: %v", n.failure, err)
}
