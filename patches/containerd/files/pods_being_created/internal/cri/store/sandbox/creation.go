// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Creations are the sandboxes that are being created. They are hidden from
// all but those who are concerned with creations. The zero value is ready to use.
type Creations struct {
	mu        sync.Mutex // guards what follows, and the creations in it
	creations map[string]*Creation
}

// A Creation is one sandbox on its way to the store.
type Creation struct {
	all    *Creations
	cancel context.CancelCauseFunc
	over   chan struct{} // closed when it is in the store or undone

	// Guarded by all.mu.
	sandbox Sandbox
	since   time.Time
	sealed  bool
	undone  bool  // it failed by itself, and is being undone
	failure error // why it must not go on, other than the caller's doing
}

// Creating is what can be seen of a creation from outside.
type Creating struct {
	Sandbox
	Since time.Time
}

// Begin enters a sandbox. The context it returns ends with the caller's, and
// when the creation is made to fail. The creation is over with End.
func (c *Creations) Begin(ctx context.Context, sb Sandbox) (context.Context, *Creation) {
	ctx, cancel := context.WithCancelCause(ctx)
	n := &Creation{all: c, cancel: cancel, over: make(chan struct{}), sandbox: sb, since: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.creations == nil {
		c.creations = make(map[string]*Creation)
	}
	c.creations[sb.ID] = n
	return ctx, n
}

// Update enters what is new of the sandbox.
func (n *Creation) Update(sb Sandbox) {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.sandbox = sb
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
	n.cancel(reason)
}

// Seal is the last moment in which the creation can fail: it returns why, or
// nil if it can no more.
func (n *Creation) Seal() error {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.sealed = n.failure == nil
	return n.failure
}

// End takes the sandbox out, when it is in the store or all of it was undone.
// It returns err with the reason for it, if the creation was made to fail.
func (n *Creation) End(err error) error {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	delete(n.all.creations, n.sandbox.ID)
	n.cancel(nil)
	close(n.over)
	if err == nil || n.failure == nil || errors.Is(err, n.failure) {
		return err
	}
	// What failed in the end did so because the context ended: the reason has
	// the error's class.
	return fmt.Errorf("%w: %v", n.failure, err)
}

// Has says whether a sandbox is being created.
func (c *Creations) Has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.creations[id] != nil
}

// List returns the sandboxes that are being created, the oldest first, as they
// were when they were last entered.
func (c *Creations) List() []Creating {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Creating
	for n := range maps.Values(c.creations) {
		list = append(list, Creating{Sandbox: n.sandbox, Since: n.since})
	}
	slices.SortFunc(list, func(a, b Creating) int { return a.Since.Compare(b.Since) })
	return list
}

// Abort makes the creation of a sandbox fail, and returns when it is undone:
// or, if it came too late for that, when the sandbox is in the store. It does
// nothing for one that is not being created.
func (c *Creations) Abort(ctx context.Context, id string, reason error) error {
	c.mu.Lock()
	n := c.creations[id]
	c.mu.Unlock()
	if n == nil {
		return nil
	}
	n.Fail(reason)
	select {
	case <-n.over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the end of the creation of sandbox %q: %w", id, ctx.Err())
	}
}
