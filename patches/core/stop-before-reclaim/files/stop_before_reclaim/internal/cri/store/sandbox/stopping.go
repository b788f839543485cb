// SPDX-License-Identifier: Apache-2.0

package sandbox

import "sync"

// Stopping are the sandboxes that are being stopped. The zero value is ready to use.
type Stopping struct {
	mu    sync.Mutex // guards stops
	stops map[string]int
}

// Begin adds a sandbox. The stop lasts until end is called.
func (s *Stopping) Begin(id string) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stops == nil {
		s.stops = map[string]int{}
	}
	s.stops[id]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.stops[id]--; s.stops[id] == 0 {
			delete(s.stops, id)
		}
	}
}

// Has reports whether a sandbox is being stopped.
func (s *Stopping) Has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stops[id] > 0
}
