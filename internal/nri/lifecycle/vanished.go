// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A runtime may end a pod without submitting its end: moby has no event for it. It may also fail
// to create a container without submitting its end, as CRI-O does. An object has vanished if lists
// lack it, the runtime has not submitted its Remove, and it has no events: plugins receive its end
// (L3), and the engine forgets it. One list is not enough: the runtime may have read it before the
// pod began, and may drop a pod from its list before it submits the end.

// vanishes is how long lists must lack an object. That is longer than a runtime takes from its
// list to its event while a plugin hangs, and longer than CRI-O keeps a pod, which no list
// has, for the kubelet's next try.
const vanishes = 10 * time.Minute

// unconfirmed is how many containers may be sealed, and not confirmed by the runtime, before
// the engine lists by itself: many more than a node creates at once. That happens only
// with a runtime that neither confirms nor ends containers.
const unconfirmed = 1024

// listIfMany takes an inventory if many containers are unconfirmed, and once a minute at most
// while they are: a runtime may create and end containers forever without a plugin that joins.
// mu is held.
func (e *Engine) listIfMany() {
	many := len(e.creations)
	if many == unconfirmed || many > unconfirmed && time.Since(e.listedAt) >= time.Minute {
		e.listSoon()
	}
}

// vanished returns the ends of the objects that have vanished. there has the objects of a list,
// and began is when that list began. mu is held.
func (e *Engine) vanished(began time.Time, there map[ledger.ID]bool) (ends []*round) {
	missing := make(map[ledger.ID]time.Time)
	for o := range e.goingOn() {
		since, before := e.missing[o]
		switch {
		case there[o], o.Container != "" && !there[ledger.ID{Pod: o.Pod}]: // it vanishes with its pod
		case !before:
			missing[o] = time.Now() // not began: the list may have waited for a lock
		case began.Sub(since) < vanishes:
			missing[o] = since
		default:
			ends = append(ends, e.vanish(o))
		}
	}
	e.missing = missing
	return ends
}

// vanish ends an object only for plugins: if the runtime lists it again, it is not marked as
// ended. mu is held.
func (e *Engine) vanish(o ledger.ID) *round {
	end, of := o.Removal(), Event{Pod: o.Pod, Container: o.Container}
	if c := e.creations[o]; c != nil {
		of = c.event
	}
	end.Request = e.opts.ImpliedEnd(end.Kind, end.Container, of)
	r := &round{ctx: e.ctx, events: []Event{end}}
	r.orphans = e.cutShort(r.events)
	if o.Container == "" {
		delete(e.ended, o.Pod)
		delete(e.agreed, o.Pod)
	}
	return r
}

// goingOn returns the pods that a plugin or the engine knows, except for pods with a creation
// that is not sealed, and the containers whose creation is sealed. mu is held.
func (e *Engine) goingOn() map[ledger.ID]bool {
	all := make(map[ledger.ID]bool)
	var not []ledger.ID
	for _, l := range e.lanes {
		l.mu.Lock()
		if l.session != nil && l.session.joined {
			for pod := range l.ledger.Pods() {
				all[ledger.ID{Pod: pod}] = true
			}
		}
		l.mu.Unlock()
	}
	for o, c := range e.creations {
		all[ledger.ID{Pod: o.Pod}] = true
		if c.sealed {
			all[o] = true
		} else {
			not = append(not, ledger.ID{Pod: o.Pod})
		}
	}
	for pod, p := range e.ended {
		all[ledger.ID{Pod: pod}] = true
		if p.stage == leaving { // later removals forget it
			not = append(not, ledger.ID{Pod: pod})
		}
	}
	for _, o := range not {
		delete(all, o)
	}
	return all
}

// hasMissed delivers an end that the runtime has not submitted like a missed end: many of them
// take turns with the line, and block no pod.
func (l *lane) hasMissed(r *round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.ownPart(slices.Clone(r.events)...) // a part gives its events their requests
	p.round.orphans = r.orphans
	if s := l.session; s == nil || !s.joined {
		l.keep(p)
		return
	}
	l.collapse(r.events)
	if !l.needs(r) {
		return
	}
	l.keep(p)
	p.missed = true
	l.line.missed = append(l.line.missed, p)
	l.resume()
}
