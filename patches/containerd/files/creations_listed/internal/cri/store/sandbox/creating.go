// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"maps"
	"slices"
	"sync"
)

// Creating are the sandboxes that are being created, and not in the store yet. The zero
// value is ready to use.
type Creating struct {
	mu        sync.Mutex // guards sandboxes
	sandboxes map[string]Sandbox
}

// Put enters a sandbox, or replaces it by its current state.
func (c *Creating) Put(sb Sandbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sandboxes == nil {
		c.sandboxes = map[string]Sandbox{}
	}
	c.sandboxes[sb.ID] = sb
}

// Delete removes a sandbox that is in the store or has failed.
func (c *Creating) Delete(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sandboxes, id)
}

// List returns the sandboxes as they were when they were last put.
func (c *Creating) List() []Sandbox {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.sandboxes))
}
