// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/truncindex"
)

// wholeID returns the id with this prefix, of a sandbox that is being created or in the
// store, or ErrNotFound. A prefix of two ids is an error.
func (c *criService) wholeID(prefix string) (string, error) {
	creating := c.creations.IDs() // first, because a sandbox moves from there to the store
	stored, err := c.sandboxStore.Get(prefix)
	switch {
	case err == nil:
		creating = append(creating, stored.ID)
	case !errdefs.IsNotFound(err):
		return "", fmt.Errorf("find sandbox %q: %w", prefix, err)
	}
	id, err := truncindex.NewTruncIndex(creating).Get(prefix)
	if errors.Is(err, truncindex.ErrNotExist) {
		err = errdefs.ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("find sandbox %q: %w", prefix, err)
	}
	return id, nil
}

// rejectCreating returns an error if the sandbox is still being created.
func (c *criService) rejectCreating(prefix string) error {
	if id, err := c.wholeID(prefix); err == nil && c.creations.Has(id) {
		return fmt.Errorf("sandbox %q is still being created: %w", id, errdefs.ErrFailedPrecondition)
	}
	return nil // the caller finds any other error when it looks for the sandbox
}

// abortCreation cancels the creation of a sandbox, if it is under way, and waits until it is
// rolled back. done names the caller's operation: "stopped" or "removed". It returns the
// whole id, or the prefix if there is no such sandbox.
func (c *criService) abortCreation(ctx context.Context, prefix, done string) (string, error) {
	id, err := c.wholeID(prefix)
	if errdefs.IsNotFound(err) {
		return prefix, nil
	}
	if err != nil {
		return "", err
	}
	reason := fmt.Errorf("sandbox %q was %s while it was being created: %w", id, done, errdefs.ErrAborted)
	return id, c.creations.Abort(ctx, id, &sandboxstore.Interruption{By: done, Err: reason})
}
