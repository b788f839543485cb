// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"

	"github.com/containerd/errdefs"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// refuseCreating returns an error if the sandbox is still being created.
func (c *criService) refuseCreating(id string) error {
	if c.creations.Has(id) {
		return fmt.Errorf("sandbox %q is still being created: %w", id, errdefs.ErrFailedPrecondition)
	}
	return nil
}

// abortCreation cancels the creation of a sandbox, if it is under way, and waits
// until it is rolled back. done is what the caller does: "stopped" or "removed".
func (c *criService) abortCreation(ctx context.Context, id, done string) error {
	reason := fmt.Errorf("sandbox %q was %s while it was being created: %w", id, done, errdefs.ErrAborted)
	return c.creations.Abort(ctx, id, &sandboxstore.Interruption{By: done, Err: reason})
}
