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

// A forgetfulMemory is a memory with the bounds of a store: on names, on what it keeps for all
// names together, and on how long it keeps that. It notes what it has dropped, so that the tests
// do not expect that.
type forgetfulMemory struct {
	*memory
	h *harshness
}

// Sync takes its time. Notes made after it began are not safe when it returns.
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

// makeRoom reports whether a new name has a place. It may take that of a disconnected name for
// which nothing is kept. mu is held.
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

// sweep drops the names that were disconnected for too long.
func (m *forgetfulMemory) sweep() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for of, n := range m.now {
		if m.h.ttl > 0 && !n.left.IsZero() && time.Since(n.left) > m.h.ttl {
			m.drop(of)
		}
	}
}

// fit makes room while more is kept than allowed: the name with the most missed events drops its
// oldest one, or is forgotten if it has none. mu is held.
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

// lose notes that an end will not be delivered.
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

// drop notes that the objects that a name knows by now are forgotten.
func (h *harshness) drop(of string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropped[of] = sent.Load()
}

// excuses reports whether a plugin need not receive the end of an object that it knows: the store
// has dropped that.
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

// unknowing notes that a runtime has started without a list of its objects: it does not know the
// objects of plugins that were connected to the last runtime.
func (w *world) unknowing() {
	for of, n := range w.memory.Names() {
		if n.Disconnected.IsZero() {
			w.harsh.drop(of)
		}
	}
}
