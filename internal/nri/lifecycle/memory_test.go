// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
)

// A memory is a MissedEvents that outlives the engine, like a file: after a crash it has what was
// synced.
type memory struct {
	mu    sync.Mutex // guards the fields below
	now   map[string]*memoryName
	saved map[string]*memoryName
	syncs int
	fails bool // Sync saves nothing, like a full disk

	savedBy  int // number of the Sync that saved it
	failedBy int // number of the last Sync that failed
}

type memoryName struct {
	wants  []string
	left   time.Time
	known  map[[2]string]bool
	missed []catchup.Due
}

func newMemory() *memory {
	return &memory{now: make(map[string]*memoryName), saved: make(map[string]*memoryName)}
}

func (m *memory) copied(names map[string]*memoryName) map[string]*memoryName {
	c := make(map[string]*memoryName)
	for of, n := range names {
		c[of] = &memoryName{n.wants, n.left, maps.Clone(n.known), slices.Clone(n.missed)}
	}
	return c
}

// crash loses what was not synced.
func (m *memory) crash() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.copied(m.saved)
}

func (m *memory) Sync() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.syncs++
	if !m.fails {
		m.saved = m.copied(m.now)
	}
}

func (m *memory) Joined(of string, wants []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.now[of]
	if n == nil {
		n = &memoryName{}
		m.now[of] = n
	}
	n.wants, n.left, n.known = wants, time.Time{}, nil
}

func (m *memory) Left(of string, known iter.Seq2[[2]string, bool]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.now[of]; n != nil {
		n.left, n.known = time.Now(), maps.Collect(known)
	}
}

func (m *memory) Miss(of, kind string, object [2]string, request string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.now[of]
	if n == nil {
		return false
	}
	same := func(d catchup.Due) bool { return d.Kind == kind && d.Object == object }
	if !slices.ContainsFunc(n.missed, same) {
		n.missed = append(n.missed, catchup.Due{kind, object, request})
	}
	return true
}

func (m *memory) Delivered(of, kind string, object [2]string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.now[of]
	if n == nil {
		return 0
	}
	n.missed = slices.DeleteFunc(n.missed, func(d catchup.Due) bool { return d.Kind == kind && d.Object == object })
	return len(n.missed)
}

func (m *memory) Forget(of string) (dropped int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.now[of]; n != nil {
		dropped = len(n.missed)
	}
	delete(m.now, of)
	return dropped
}

func (m *memory) Names() iter.Seq2[string, catchup.Presence] {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]catchup.Presence)
	for of, n := range m.now {
		all[of] = catchup.Presence{n.wants, n.left, len(n.missed)}
	}
	return maps.All(all)
}

func (m *memory) Known(of string) iter.Seq2[[2]string, bool] {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.All(maps.Clone(m.now[of].known))
}

func (m *memory) Missed(of string) iter.Seq[catchup.Due] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now[of] == nil {
		return slices.Values([]catchup.Due(nil))
	}
	return slices.Values(slices.Clone(m.now[of].missed))
}
