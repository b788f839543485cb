// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Recall brings back, after a restart, the plugins that were there before. It is to be
// called once, before a connection joins and before the runtime ends anything. What
// those know that were connected to the end is what the runtime lists now, but for
// what has ended as far as they are concerned: what they have missed; and what was cut in
// its creation, see Options.Cut. What a plugin knows
// and the runtime no longer has ended while nobody was there to tell.
func (e *Engine) Recall(ctx context.Context) error {
	if e.opts.Owed == nil {
		return nil
	}
	names := maps.Collect(e.opts.Owed.Names())
	if len(names) == 0 {
		return nil
	}
	there, err := e.opts.List(ctx)
	if err != nil {
		err = fmt.Errorf("what the plugins know that were connected before is not known: %w", err)
	}
	cut := e.cut()
	for name, p := range names {
		l := e.recalled(name, p)
		l.recall(p, there, cut[name], err == nil)
	}
	e.opts.Owed.Sync()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lanes {
		l.mu.Lock()
		l.safe = true
		l.mu.Unlock()
	}
	return err
}

// cut returns what the runtime was killed in creating, by the names that were told of it.
func (e *Engine) cut() map[string][]Object {
	all := make(map[string][]Object)
	if e.opts.Cut != nil {
		for name, o := range e.opts.Cut() {
			all[name] = append(all[name], o)
		}
	}
	return all
}

// recalled makes the lane of a plugin that is away since before this runtime.
func (e *Engine) recalled(name string, p Presence) *lane {
	index, _, _ := strings.Cut(name, "-")
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.newLane(name, index)
	l.own, l.kept = true, true
	for _, kind := range p.Wants {
		l.wants |= 1 << kindOf(kind)
	}
	e.names[name] = l
	return l
}

// recall finds out what the plugin of a lane knows. Without a list that is what it has
// missed and, if it was away before, what was stored: the record stays as it is, for the
// next restart, and what has gone is found when the plugin is back.
func (l *lane) recall(p Presence, there Snapshot, cut []Object, listed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	owed := l.engine.opts.Owed
	if p.Away.IsZero() {
		l.ledger = synchronized(there, newLedger())
		for _, c := range there.Exited {
			l.ledger.know(c.object(), l.ledger.pods[c.Pod].mark != stopped) // before its pod
		}
		for _, o := range cut {
			l.ledger.know(o.object(), true)
		}
	} else {
		for o, over := range owed.Known(l.name) {
			l.ledger.know(object{o[0], o[1]}, !over)
		}
	}
	l.ledger.toldBefore(slices.Collect(owed.Owes(l.name)))
	if l.gone = !listed; l.gone {
		return
	}
	if p.Away.IsZero() {
		owed.Left(l.name, l.ledger.all())
	}
	l.missGone(there)
}

// toldBefore makes of a ledger that knows what there is that of a plugin that has missed
// some ends: it knows their objects, and was told what came before them. The runtime may
// have been killed after it handed them in, and list the objects still.
func (g *ledger) toldBefore(missed []Due) {
	missing := make(map[Event]bool, len(missed))
	var events []Event
	for _, d := range missed {
		ev := eventOf(d)
		events = append(events, ev)
		missing[ev] = true
		if ev.Kind.removal() {
			g.know(ev.object(), false)
		} else {
			g.reopen(ev.object())
		}
	}
	left := g.copyOf(events)
	for _, goal := range events {
		left.complete(goal, func(ev Event) {
			if !missing[ev] {
				g.told(ev)
			}
		})
	}
}

// missGone has a plugin miss the ends of all that it knows and that is not there any more.
// l.mu is held.
func (l *lane) missGone(there Snapshot) {
	l.gone = false
	ids := there.index()
	for _, o := range there.Exited {
		ids[o.object()] = o
	}
	for id := range maps.Collect(l.ledger.all()) {
		o := object{id[0], id[1]}
		if _, is := ids[o]; is {
			continue
		}
		if _, is := ids[object{pod: o.pod}]; o.container != "" && !is && l.ledger.knows(object{pod: o.pod}) {
			continue // it ends with its pod
		}
		end := o.removal()
		pod, is := ids[object{pod: o.pod}]
		of := Event{Pod: o.pod}
		if is {
			of.Request = pod.Value
		}
		end.Request = l.engine.opts.ImpliedEnd(end.Kind, end.Container, of)
		l.keep(l.ownPart(end))
		if !is {
			l.ledger.remove([]Event{{Kind: RemovePodSandbox, Pod: o.pod}}) // also one of which containers alone are known
		}
	}
}

// know enters a pod or container that is not known.
func (g *ledger) know(o object, stops bool) {
	switch {
	case g.knows(o):
	case o.container != "":
		g.enter(o.pod, containerEntry{id: o.container, mark: inherited(stops)})
	default:
		p := g.pods[o.pod]
		p.mark = inherited(stops)
		g.pods[o.pod] = p
	}
}

// reopen enters what has stopped and was not told so.
func (g *ledger) reopen(o object) {
	p := g.pods[o.pod]
	switch {
	case g.goesOn(o):
		return
	case o.container == "":
		p.mark = over
		g.pods[o.pod] = p
	case p.container(o.container) != nil:
		p.container(o.container).mark = listed
		p.running++
		g.pods[o.pod] = p
	default:
		g.enter(o.pod, containerEntry{id: o.container, mark: listed})
	}
}

// remove notes the pods that ends remove: nothing comes for them any more.
func (g *ledger) remove(ends []Event) {
	for _, ev := range ends {
		if p, known := g.pods[ev.Pod]; known && ev.Kind == RemovePodSandbox {
			p.removed = true
			g.pods[ev.Pod] = p
		}
	}
}

// all returns what is known, and whether it was told that it has stopped.
func (g *ledger) all() iter.Seq2[[2]string, bool] {
	return func(yield func([2]string, bool) bool) {
		for id, p := range g.pods {
			if p.mark != unknown && !yield([2]string{id}, !p.mark.stops()) {
				return
			}
			for _, c := range p.containers {
				if !yield([2]string{id, c.id}, !c.mark.stops()) {
					return
				}
			}
		}
	}
}
