// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A runtime may end a pod without a word: moby has no event for it. It may also fail to make a
// container and say nothing, as CRI-O does. What lists are without, whose removal the runtime has
// not handed in, and of which nothing happens, has vanished: plugins are told its end (L3), and
// the engine knows nothing more of it. One list is not enough: it may have been read before the
// pod began, and a runtime may drop a pod from its list before it hands in the end.

// vanishes is how long that has to be so: longer than a runtime takes between its list and its
// event, with a plugin in it that hangs, and than CRI-O keeps a pod for the next try of the
// kubelet, in no list.
const vanishes = 10 * time.Minute

// unconfirmed is how many containers may be sealed, and not confirmed by the runtime, before
// the engine lists by itself: many more than a node creates at once. A runtime that confirms
// none, and ends none, is so told apart from one that does.
const unconfirmed = 1024

// listIfMany has the runtime list if it leaves much unsaid, and once a minute at most if it goes
// on to: it may create and end containers for ever without a plugin that joins. mu is held.
func (e *Engine) listIfMany() {
	many := len(e.creations)
	if many == unconfirmed || many > unconfirmed && time.Since(e.listedAt) >= time.Minute {
		e.listSoon()
	}
}

// vanished returns the ends of what has vanished, by a list that began then and has what is
// there. mu is held.
func (e *Engine) vanished(began time.Time, there map[ledger.ID]bool) (ends []*round) {
	missing := make(map[ledger.ID]time.Time)
	for o := range e.goingOn() {
		since, before := e.missing[o]
		switch {
		case there[o], o.Container != "" && !there[ledger.ID{Pod: o.Pod}]: // it vanishes with its pod
		case !before:
			missing[o] = time.Now() // the list was read by then: it may have waited for a lock
		case began.Sub(since) < vanishes:
			missing[o] = since
		default:
			ends = append(ends, e.vanish(o))
		}
	}
	e.missing = missing
	return ends
}

// vanish ends an object for plugins alone, so that it takes nothing from one that the runtime
// lists again. mu is held.
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

// goingOn returns the pods that a plugin or the engine knows of, but for those in which
// something is being created just now, and containers that all have agreed to. mu is held.
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
		if p.stage == leaving { // that is remembered for so many removals
			not = append(not, ledger.ID{Pod: pod})
		}
	}
	for _, o := range not {
		delete(all, o)
	}
	return all
}

// hasMissed has the plugin told of an end that the runtime has not handed in, as of one that it
// has missed: much of that takes turns with the line, and holds up no pod.
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
	if !l.tells(r) {
		return
	}
	l.keep(p)
	p.missed = true
	l.line.missed = append(l.line.missed, p)
	l.resume()
}
