// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
)

// failing has the failure of a creation. The lock of Creations guards it.
type failing struct {
	cancel  context.CancelCauseFunc // of the context that Context returned
	sealed  bool
	undone  bool  // a step of the creation failed, and it is being rolled back
	failure error // the reason for which the creation was made to fail
}

// An Interruption is the failure of a creation whose own steps did not fail.
type Interruption struct {
	// By is the cause: the pod was "stopped" or "removed" by a client, its process has
	// "exited", or a "plugin" did not approve it.
	By  string
	Err error
}

// Error implements error.
func (i *Interruption) Error() string { return i.Err.Error() }

// Unwrap returns the error of the cause.
func (i *Interruption) Unwrap() error { return i.Err }

// Context returns a context that is canceled with the caller's, and when the creation is made
// to fail. Explain releases it.
func (n *Creation) Context(ctx context.Context) context.Context {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	ctx, n.cancel = context.WithCancelCause(ctx)
	if n.failure != nil {
		n.cancel(n.failure) // it failed before it had a context
	}
	return ctx
}

// Undo marks that the creation has failed and is being rolled back. An exit of the sandbox's
// process from now on is not the reason of the failure.
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

// Seal is the last point at which the creation can fail. It returns the reason if the creation was
// made to fail or its caller has canceled, and nil if the creation can no longer fail.
func (n *Creation) Seal(ctx context.Context) error {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	if n.failure != nil {
		return n.failure
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("caller canceled before the sandbox was ready: %w", err)
	}
	n.sealed = true
	return nil
}

// Explain adds the reason to the error of a creation that was made to fail.
func (n *Creation) Explain(err error) error {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.cancel(nil)
	if err == nil || n.failure == nil || errors.Is(err, n.failure) {
		return err
	}
	// The error came from the canceled context. The reason decides the class of errdefs.
	return fmt.Errorf("%w: %v", n.failure, err)
}
