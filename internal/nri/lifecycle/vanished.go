// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"
)

// A runtime may end a pod without a word: moby has no event for it. A pod that it does not list
// any more, and whose removal it has not handed in, has vanished: plugins are told its end (L3),
// and the engine knows nothing more of it. One list is not enough: it may have begun before the
// pod did, and a runtime may drop a pod from its list before it hands in the end, as CRI-O does.

// vanishes is how long lists have to be without a pod before it has vanished: longer than a
// runtime takes between its list and its event, with a plugin in it that hangs.
const vanishes = time.Minute

// unconfirmed is how many containers may be sealed, and not confirmed by the runtime, before
// the engine lists by itself: many more than a node creates at once. A runtime that confirms
// none, and ends none, is so told apart from one that does.
const unconfirmed = 1024

// listIfMany has the runtime list if it leaves much unsaid: it may create and end
// containers for ever without a plugin that joins. mu is held.
func (e *Engine) listIfMany() {
	if len(e.creations) >= max(unconfirmed, e.listAt) {
		e.listAt = 2 * len(e.creations)
		e.listSoon()
	}
}

// vanished returns the ends of the pods that have vanished, by a list that began then and has
// those that are there. The engine only ends them for plugins, so that it takes nothing from
// one that the runtime lists again. mu is held.
func (e *Engine) vanished(began time.Time, there map[string]bool) (ends []*round) {
	missing := make(map[string]time.Time)
	for pod := range e.goingOn() {
		since, before := e.missing[pod]
		switch {
		case there[pod]:
		case !before:
			missing[pod] = began
		case began.Sub(since) < vanishes:
			missing[pod] = since
		default:
			end := Event{Kind: RemovePodSandbox, Pod: pod}
			end.Request = e.opts.ImpliedEnd(end.Kind, "", Event{Pod: pod})
			r := &round{ctx: e.ctx, events: []Event{end}}
			r.orphans = e.cutShort(r.events)
			ends = append(ends, r)
			delete(e.ended, pod)
		}
	}
	e.missing, e.listAt = missing, 2*len(e.creations)
	return ends
}

// goingOn returns the pods that a plugin or the engine knows of, but for those in which
// something is being created just now, and those whose ends are on their way. mu is held.
func (e *Engine) goingOn() map[string]bool {
	pods := make(map[string]bool)
	var ending []string
	for _, l := range e.lanes {
		l.mu.Lock()
		if l.session != nil && l.session.joined {
			for pod := range l.ledger.pods {
				pods[pod] = true
			}
			ending = append(ending, l.ending()...)
		}
		l.mu.Unlock()
	}
	for o := range e.creations {
		pods[o.pod] = true
	}
	for pod, p := range e.ended {
		pods[pod] = true
		if p.stage == leaving {
			delete(pods, pod) // that is remembered for so many removals
		}
	}
	for o, c := range e.creations {
		if !c.sealed {
			delete(pods, o.pod)
		}
	}
	for _, pod := range ending {
		delete(pods, pod)
	}
	return pods
}

// ending returns the pods whose ends are on their way to the plugin. l.mu is held.
func (l *lane) ending() (pods []string) {
	parts := slices.Clone(l.line.missed)
	for _, e := range l.line.entries {
		parts = append(parts, e.part)
	}
	if l.current != nil {
		parts = append(parts, l.current.part)
	}
	for _, p := range parts {
		if p != nil {
			pods = append(pods, p.round.last().Pod)
		}
	}
	return pods
}

// tell puts a round in the lane. Nobody waits for it.
func (l *lane) tell(r *round) {
	if p := l.post(r); p != nil {
		p.leave(r, 0)
	}
}
