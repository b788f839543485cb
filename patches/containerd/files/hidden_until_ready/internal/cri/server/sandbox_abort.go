// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"

	"github.com/containerd/errdefs"
)

// refuseCreating refuses what needs a sandbox that was created.
func (c *criService) refuseCreating(id string) error {
	if c.creations.Has(id) {
		return fmt.Errorf("sandbox %q is still being created: %w", id, errdefs.ErrFailedPrecondition)
	}
	return nil
}

// abortCreation ends the creation of a sandbox, if it is under way, and waits
// until it is undone. done is what the sandbox was, "stopped" or "removed".
func (c *criService) abortCreation(ctx context.Context, id, done string) error {
	reason := fmt.Errorf("sandbox %q was %s while it was being created: %w", id, done, errdefs.ErrAborted)
	return c.creations.Abort(ctx, id, reason)
}
