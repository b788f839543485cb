// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// IDs returns the ids of the sandboxes that are being created, in no order.
func (c *Creations) IDs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.creations))
}

// Abort makes the creation of a sandbox fail, and returns when it is rolled back. If it is too
// late for that, Abort returns when the sandbox is in the store. It does nothing for a sandbox
// that is not being created.
func (c *Creations) Abort(ctx context.Context, id string, reason error) error {
	c.mu.Lock()
	n := c.creations[id]
	c.mu.Unlock()
	if n == nil {
		return nil
	}
	n.Fail(reason)
	select {
	case <-n.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the end of the creation of sandbox %q: %w", id, ctx.Err())
	}
}
