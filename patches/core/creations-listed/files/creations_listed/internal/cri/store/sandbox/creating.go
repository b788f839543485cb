// SPDX-License-Identifier: Apache-2.0

package sandbox

import "sync"

// Creating are the sandboxes that are being created, and not in the store yet. The zero
// value is ready to use.
type Creating struct {
	mu        sync.Mutex // guards sandboxes
	sandboxes map[string]creating
}

type creating struct {
	Sandbox
	listed bool
}

// Put adds a sandbox, or updates it to its current state.
func (c *Creating) Put(sb Sandbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sandboxes == nil {
		c.sandboxes = map[string]creating{}
	}
	c.sandboxes[sb.ID] = creating{sb, c.sandboxes[sb.ID].listed}
}

// Delete removes a sandbox that is in the store or has failed. It reports whether List has
// returned it.
func (c *Creating) Delete(id string) (listed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	listed = c.sandboxes[id].listed
	delete(c.sandboxes, id)
	return listed
}

// List returns the sandboxes, each as of its last Put.
func (c *Creating) List() (list []Sandbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, sb := range c.sandboxes {
		list = append(list, sb.Sandbox)
		c.sandboxes[id] = creating{sb.Sandbox, true}
	}
	return list
}
