// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
)

// failing holds what makes a creation fail. The lock of Creations guards it.
type failing struct {
	cancel  context.CancelCauseFunc // of the context that Context returned
	sealed  bool
	undone  bool  // it failed by itself, and is being rolled back
	failure error // why it must not go on, unless the caller gave up
}

// An Interruption is the failure of a creation whose own steps did not fail.
type Interruption struct {
	// By is what ended it: the pod was "stopped" or "removed" by a client, its process
	// has "exited", or a "plugin" did not agree.
	By  string
	Err error
}

// Error implements error.
func (i *Interruption) Error() string { return i.Err.Error() }

// Unwrap returns what happened.
func (i *Interruption) Unwrap() error { return i.Err }

// Context returns a context that is cancelled with the caller's, and when the
// creation is made to fail. Explain releases it.
func (n *Creation) Context(ctx context.Context) context.Context {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	ctx, n.cancel = context.WithCancelCause(ctx)
	if n.failure != nil {
		n.cancel(n.failure) // it failed before it had a context
	}
	return ctx
}

// Undo says that the creation has failed and is being rolled back. The exit of the
// sandbox's process from here on is not the reason.
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

// Seal is the last moment at which the creation can fail: it returns why it did,
// or nil if it can no longer fail.
func (n *Creation) Seal() error {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.sealed = n.failure == nil
	return n.failure
}

// Explain returns the error of a creation, with the reason if it was made to fail.
func (n *Creation) Explain(err error) error {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.cancel(nil)
	if err == nil || n.failure == nil || errors.Is(err, n.failure) {
		return err
	}
	// The error came from the cancelled context. The class of errdefs is that of
	// the reason.
	return fmt.Errorf("%w: %v", n.failure, err)
}
