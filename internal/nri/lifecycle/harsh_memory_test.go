// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
)

// A forgetfulMemory is a memory with the bounds that a store has: of names, of what it keeps
// for all of them, and of the time for which it does. It says what it has dropped, for
// nobody to miss that.
type forgetfulMemory struct {
	*memory
	h *harshness
}

// Sync takes its time. What was noted after it began is not safe when it returns.
func (m *forgetfulMemory) Sync() {
	m.mu.Lock()
	m.syncs++
	nth, now := m.syncs, m.copied(m.now)
	m.mu.Unlock()
	m.h.spend(m.h.sync)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.fails:
		m.failedBy = max(nth, m.failedBy)
	case nth > m.savedBy:
		m.saved, m.savedBy = now, nth
	}
}

func (m *forgetfulMemory) Joined(of string, wants []string) {
	m.mu.Lock()
	_, is := m.now[of]
	room := is || m.makeRoom()
	m.mu.Unlock()
	if !room {
		m.h.mu.Lock()
		m.h.crowded[of] = true
		m.h.mu.Unlock()
		return
	}
	m.memory.Joined(of, wants)
}

// makeRoom returns whether a name that comes has a place, maybe that of one that is disconnected and
// holds nothing. mu is held.
func (m *forgetfulMemory) makeRoom() bool {
	if m.h.names == 0 || len(m.now) < m.h.names {
		return true
	}
	for _, of := range slices.Sorted(maps.Keys(m.now)) {
		if n := m.now[of]; !n.left.IsZero() && len(n.missed)+len(n.known) == 0 {
			m.drop(of)
			return true
		}
	}
	return false
}

func (m *forgetfulMemory) Left(of string, known iter.Seq2[[2]string, bool]) {
	m.memory.Left(of, known)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fit()
}

func (m *forgetfulMemory) Miss(of, kind string, object [2]string, request string) bool {
	m.sweep()
	if !m.memory.Miss(of, kind, object, request) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fit()
	return true
}

func (m *forgetfulMemory) Names() iter.Seq2[string, catchup.Presence] {
	m.sweep()
	return m.memory.Names()
}

func (m *forgetfulMemory) Known(of string) iter.Seq2[[2]string, bool] {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.All(maps.Clone(cmp.Or(m.now[of], &memoryName{}).known))
}

func (m *forgetfulMemory) Missed(of string) iter.Seq[catchup.Due] {
	m.sweep()
	return m.memory.Missed(of)
}

// sweep drops the names that are disconnected for too long.
func (m *forgetfulMemory) sweep() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for of, n := range m.now {
		if m.h.ttl > 0 && !n.left.IsZero() && time.Since(n.left) > m.h.ttl {
			m.drop(of)
		}
	}
}

// fit has the name that is owed most give up its oldest end, or go if it is owed none, while
// more is kept than may be. mu is held.
func (m *forgetfulMemory) fit() {
	for m.h.ends > 0 {
		kept, most := 0, ""
		for _, of := range slices.Sorted(maps.Keys(m.now)) {
			n := m.now[of]
			kept += len(n.missed) + len(n.known)
			if len(n.missed) == 0 && n.left.IsZero() {
				continue
			}
			if most == "" || len(n.missed)+len(n.known) > len(m.now[most].missed)+len(m.now[most].known) {
				most = of
			}
		}
		if kept <= m.h.ends || most == "" {
			return
		}
		n := m.now[most]
		if len(n.missed) == 0 {
			m.drop(most)
			continue
		}
		o := n.missed[0].Object
		n.missed = slices.Delete(n.missed, 0, 1)
		delete(n.known, o)
		m.h.lose(most, o)
	}
}

// drop forgets a name. mu is held.
func (m *forgetfulMemory) drop(of string) {
	delete(m.now, of)
	m.h.drop(of)
}

// lose notes that an end will not be told.
func (h *harshness) lose(of string, object [2]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := object[0]
	if object[1] != "" {
		id += "/" + object[1]
	}
	if h.lost[of] == nil {
		h.lost[of] = make(map[string]bool)
	}
	h.lost[of][id] = true
}

// drop notes that nothing is known any more of what a name knows by now.
func (h *harshness) drop(of string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropped[of] = sent.Load()
}

// excuses says whether a plugin need not hear the end of an object that it was told of: the
// store has dropped that.
func (h *harshness) excuses(p *simPlugin, id string) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.crowded[p.name] || h.lost[p.name][id] {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	later := slices.DeleteFunc(slices.Clone(p.history), func(r record) bool { return r.nth <= h.dropped[p.name] })
	return !slices.Contains(known(later), id)
}

// unknowing notes that a runtime has started that could not list what there is: it does not
// know what those know that were connected to the last one.
func (w *world) unknowing() {
	for of, n := range w.memory.Names() {
		if n.Disconnected.IsZero() {
			w.harsh.drop(of)
		}
	}
}
