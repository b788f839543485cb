// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// An inventory is what the runtime listed for those who join, with what the
// engine knew just before: what had happened until then is not in their lanes,
// and what came after is.
type inventory struct {
	snapshot  Snapshot
	err       error
	creations []Event // of containers that the runtime may not list yet
	ended     endedObjects
	omit      bool            // Options.OmitCreating
	agreed    map[string]bool // pods that the connection will not be asked for
}

// list waits for an inventory: one is taken for all who came in before it began
// (L13), and one at a time. It is waited for no longer than a SyncTimeout, however
// long the runtime takes for it.
func (e *Engine) list(ctx context.Context, s *session) (taken *inventory, err error) {
	e.mu.Lock()
	s.listed = make(chan struct{})
	e.unlisted = append(e.unlisted, s)
	if !e.taking && !e.closed {
		e.taking = true
		e.work.Add(1)
		go e.takeInventories()
	}
	e.mu.Unlock()
	timeout := e.opts.SyncTimeout()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-s.listed:
		taken = s.inventory
		s.inventory = nil // it is large, and told once
		return taken, taken.err
	case <-timer.C:
		err = fmt.Errorf("%w within %s: %w", ErrList, timeout, context.DeadlineExceeded)
	case <-s.gone:
		err = s.closed
	case <-ctx.Done():
		err = ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unlisted = slices.DeleteFunc(e.unlisted, func(o *session) bool { return o == s })
	return nil, err
}

// takeInventories lists for as long as there are connections to list for.
func (e *Engine) takeInventories() {
	defer e.work.Done()
	for {
		e.mu.Lock()
		for _, s := range e.unlisted {
			if s.closed == nil {
				e.listing = append(e.listing, s)
			}
		}
		e.unlisted = nil
		if len(e.listing) == 0 {
			e.taking = false
			e.mu.Unlock()
			return
		}
		taken := e.known()
		e.mu.Unlock()
		taken.snapshot, taken.err = e.opts.List(e.ctx)
		e.hand(taken)
	}
}

// known is what the engine knows when a list begins. mu is held.
func (e *Engine) known() inventory {
	k := inventory{ended: e.ended.clone(), omit: e.opts.OmitCreating, agreed: maps.Clone(e.agreed)}
	for _, c := range e.creations {
		if c.sealed && c.event.Container != "" {
			k.creations = append(k.creations, c.event)
		}
	}
	return k
}

// hand gives an inventory to those it was taken for. From the same instant on
// they are asked of new pods and containers.
func (e *Engine) hand(taken inventory) {
	e.mu.Lock()
	sessions := e.listing
	e.listing = nil
	for _, s := range sessions {
		if taken.err != nil || s.closed != nil {
			continue
		}
		if s.seq == 0 {
			e.lists++
			s.seq = e.lists
		}
		if s.lane.session == s && !slices.Contains(e.askable, s.lane) {
			e.askable = insert(e.askable, s.lane)
		}
	}
	if taken.err == nil {
		e.sweep(taken)
	}
	e.mu.Unlock()
	for _, s := range sessions {
		s.inventory = &taken
		close(s.listed)
	}
}

// sweep forgets the ends of pods that have left the runtime's lists, but for
// those whose removal is remembered: a container may still come for them. mu is
// held.
func (e *Engine) sweep(taken inventory) {
	there := make(map[string]bool, len(taken.snapshot.Pods))
	for _, p := range taken.snapshot.Pods {
		there[p.Pod] = true
	}
	for pod := range taken.ended {
		if p := e.ended[pod]; !there[pod] && p != nil && p.stage != leaving {
			delete(e.ended, pod)
		}
	}
}

// correct makes of what the runtime lists what the connection is to be told:
// with containers that are in the runtime's hands on their way to its list,
// without objects that have had their last event, and each once.
func (b *inventory) correct() Snapshot {
	s := Snapshot{Exited: b.snapshot.Exited}
	seen := make(map[object]int, len(b.snapshot.Pods)+len(b.snapshot.Containers))
	for _, p := range b.snapshot.Pods {
		at := b.ended.stage(object{pod: p.Pod})
		if at == leaving {
			continue
		}
		if b.omit && p.Creating && !b.agreed[p.Pod] {
			continue // it comes with its first event, if that comes
		}
		p.Stopped = p.Stopped || at == ended
		if i, twice := seen[object{pod: p.Pod}]; twice {
			s.Pods[i] = p // the later one was read later
			continue
		}
		seen[object{pod: p.Pod}] = len(s.Pods)
		s.Pods = append(s.Pods, p)
	}
	add := func(c Object) {
		o := object{c.Pod, c.Container}
		switch b.ended.stage(o) {
		case ended:
			s.Exited = append(s.Exited, c)
			return
		case leaving:
			return
		}
		if i, twice := seen[o]; twice {
			s.Containers[i] = c
			return
		}
		seen[o] = len(s.Containers)
		s.Containers = append(s.Containers, c)
	}
	for _, ev := range b.creations {
		add(Object{Pod: ev.Pod, Container: ev.Container, Value: ev.Request})
	}
	for _, c := range b.snapshot.Containers {
		add(c)
	}
	return s
}
