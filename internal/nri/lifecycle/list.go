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

// An inventory is what the runtime listed for connections that join, with what the
// engine knew just before the list: earlier events are not in their lanes, and later
// events are.
type inventory struct {
	snapshot Snapshot
	err      error
	began    time.Time
	ended    endedObjects
	omit     bool            // Options.OmitCreating
	agreed   map[string]bool // pods for which the connection will not be asked
}

// list waits for an inventory. One inventory is taken at a time, for all connections that
// registered before it began (L13). list waits no longer than timeout, however long the runtime
// takes.
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
		s.inventory = nil // it is large, and needed once
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

// listSoon starts takeInventories unless it runs. mu is held.
func (e *Engine) listSoon() {
	if e.taking || e.closed {
		return
	}
	e.taking = true
	e.work.Add(1)
	go e.takeInventories()
}

// takeInventories takes one inventory, and more while connections wait for one.
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
		taken := e.newInventory()
		e.listedAt = taken.began
		e.updates.list(e.listing)
		e.mu.Unlock()
		taken.snapshot, taken.err = e.opts.List(e.ctx)
		e.hand(taken)
	}
}

// newInventory returns an inventory whose list begins now. mu is held.
func (e *Engine) newInventory() inventory {
	return inventory{began: time.Now(), ended: e.ended.clone(), omit: e.opts.OmitCreating, agreed: maps.Clone(e.agreed)}
}

// hand gives an inventory to the sessions that it was taken for. From the same instant on
// they are asked for new pods and containers.
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
	go func() { // a plugin that receives an event may start a Join
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

// compare compares what the engine knows with an inventory. It returns the listed containers
// that are in creation, and the ends of objects that have vanished. mu is held.
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
		if c != nil && c.sealed && !c.since.After(taken.began) { // else it began later, under the same id
			c.aborted.Store(true) // only its end may still be delivered
			e.takeOut(c)
		}
	}
	there := make(map[ledger.ID]bool)
	for _, o := range slices.Concat(taken.snapshot.Pods, taken.snapshot.Containers, taken.snapshot.Exited) {
		there[o.ID()] = true
	}
	return made, e.vanished(taken.began, there)
}

// correct returns the Synchronize of a connection: the inventory without objects whose last
// event is out, and with each object once.
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
			continue // the connection receives it by its first event, if that comes
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
