// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"errors"
	"slices"
)

// ErrOff is why a connection is dropped, or does not join, while its name is turned off.
var ErrOff = errors.New("the plugin is turned off")

// TurnOff drops the connections of a name, and returns how many. No other one joins until TurnOn.
// To everything else the plugin is disconnected, so its ends are missed events (L18), and
// requirements of it are not met (L20).
func (e *Engine) TurnOff(name string) (dropped int) {
	e.mu.Lock()
	e.off[name] = true
	var all []*session
	for s := range e.sessions {
		if s.name == name && s.closed == nil {
			all = append(all, s)
		}
	}
	e.mu.Unlock()
	// The newest first: else a connection that waits takes over from the one before it.
	slices.SortFunc(all, func(a, b *session) int { return cmp.Compare(b.nth, a.nth) })
	for _, s := range all {
		e.drop(s, ErrOff)
	}
	return len(all)
}

// TurnOn lets connections of a name join again, and reports whether the name was turned off.
func (e *Engine) TurnOn(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.off[name]
	delete(e.off, name)
	return was
}

// IsOff reports whether a name is turned off.
func (e *Engine) IsOff(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.off[name]
}
