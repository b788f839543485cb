// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Creations are the sandboxes that are being created, and not in the store yet. The
// zero value is ready to use.
type Creations struct {
	mu        sync.Mutex // guards the map and the creations in it
	creations map[string]*Creation
}

// A Creation is one sandbox that is being created.
type Creation struct {
	all *Creations

	// Guarded by all.mu.
	sandbox Sandbox
	since   time.Time
}

// Creating is a snapshot of a creation.
type Creating struct {
	Sandbox
	Since time.Time
}

// Begin enters a sandbox. The creation lasts until End.
func (c *Creations) Begin(sb Sandbox) *Creation {
	n := &Creation{all: c, sandbox: sb, since: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.creations == nil {
		c.creations = make(map[string]*Creation)
	}
	c.creations[sb.ID] = n
	return n
}

// Update replaces the sandbox by its current state.
func (n *Creation) Update(sb Sandbox) {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.sandbox = sb
}

// End removes the sandbox, once it is in the store or rolled back. It may be called again.
func (n *Creation) End() {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	if n.all.creations[n.sandbox.ID] != n {
		return
	}
	delete(n.all.creations, n.sandbox.ID)
}

// Has reports whether a sandbox is being created.
func (c *Creations) Has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.creations[id] != nil
}

// List returns the sandboxes that are being created, oldest first, in their last updated
// state.
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
