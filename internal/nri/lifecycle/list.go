// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// An inventory is what the runtime listed for those who join, with what the
// engine knew just before: what had happened until then is not in their lanes,
// and what came after is.
type inventory struct {
	snapshot Snapshot
	err      error
	began    time.Time
	ended    endedObjects
	omit     bool            // Options.OmitCreating
	agreed   map[string]bool // pods that the connection will not be asked for
}

// list waits for an inventory: one is taken for all who came in before it began
// (L13), and one at a time. It is waited for no longer than a timeout, however
// long the runtime takes for it.
func (e *Engine) list(ctx context.Context, s *session, timeout time.Duration) (taken *inventory, err error) {
	e.mu.Lock()
	s.listed = make(chan struct{})
	e.unlisted = append(e.unlisted, s)
	e.listSoon()
	e.mu.Unlock()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-s.listed:
		taken = s.inventory
		s.inventory = nil // it is large, and sent once
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

// listSoon has an inventory taken, and whatever others are wanted then. mu is held.
func (e *Engine) listSoon() {
	if e.taking || e.closed {
		return
	}
	e.taking = true
	e.work.Add(1)
	go e.takeInventories()
}

// takeInventories lists once, and for as long as there are connections to list for.
func (e *Engine) takeInventories() {
	defer e.work.Done()
	for first := true; ; first = false {
		e.mu.Lock()
		for _, s := range e.unlisted {
			if s.closed == nil {
				e.listing = append(e.listing, s)
			}
		}
		e.unlisted = nil
		if len(e.listing) == 0 && !first {
			e.taking = false
			e.mu.Unlock()
			return
		}
		e.listedAt = time.Now()
		taken := inventory{began: e.listedAt, ended: e.ended.clone(), omit: e.opts.OmitCreating, agreed: maps.Clone(e.agreed)}
		e.mu.Unlock()
		taken.snapshot, taken.err = e.opts.List(e.ctx)
		e.hand(taken)
	}
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
	made, vanished := e.compare(taken)
	lanes := e.lanes
	e.mu.Unlock()
	for _, s := range sessions {
		s.inventory = &taken
		close(s.listed)
	}
	if len(made)+len(vanished) == 0 {
		return
	}
	e.work.Add(1)
	go func() { // a plugin that is told may join another one
		defer e.work.Done()
		for _, o := range made {
			e.made(o)
		}
		for _, r := range vanished {
			for _, l := range lanes {
				l.hasMissed(r)
			}
		}
	}()
}

// compare holds what the engine knows against what the runtime has listed. It returns the
// containers in creation that are listed, and the ends of what is not any more. mu is held.
func (e *Engine) compare(taken inventory) (made []ledger.ID, vanished []*round) {
	if taken.err != nil {
		return nil, nil
	}
	for _, c := range taken.snapshot.Containers {
		if e.creations[c.ID()] != nil {
			made = append(made, c.ID())
		}
	}
	for _, o := range taken.snapshot.Exited {
		c := e.creations[o.ID()]
		if c != nil && c.sealed && !c.since.After(taken.began) { // else it has the id of the one that has exited
			c.aborted.Store(true) // there is nothing to tell of it but its end
			e.takeOut(c)
		}
	}
	there := make(map[ledger.ID]bool)
	for _, o := range slices.Concat(taken.snapshot.Pods, taken.snapshot.Containers, taken.snapshot.Exited) {
		there[o.ID()] = true
	}
	return made, e.vanished(taken.began, there)
}

// correct makes of what the runtime lists what the connection is to be told:
// without objects that have had their last event, and each once.
func (b *inventory) correct() Snapshot {
	var s Snapshot
	for _, c := range b.snapshot.Exited {
		if b.ended.stage(c.ID()) != leaving {
			s.Exited = append(s.Exited, c)
		}
	}
	seen := make(map[ledger.ID]int, len(b.snapshot.Pods)+len(b.snapshot.Containers))
	for _, p := range b.snapshot.Pods {
		at := b.ended.stage(ledger.ID{Pod: p.Pod})
		if at == leaving {
			continue
		}
		if b.omit && p.Creating && !b.agreed[p.Pod] {
			continue // it comes with its first event, if that comes
		}
		p.Stopped = p.Stopped || at == ended
		if i, twice := seen[ledger.ID{Pod: p.Pod}]; twice {
			s.Pods[i] = p // the later one was read later
			continue
		}
		seen[ledger.ID{Pod: p.Pod}] = len(s.Pods)
		s.Pods = append(s.Pods, p)
	}
	add := func(c Object) {
		o := c.ID()
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
	for _, c := range b.snapshot.Containers {
		add(c)
	}
	return s
}
