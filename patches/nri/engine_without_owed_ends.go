// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// owedEnds keeps what a plugin has not heard while it was away. What is cut here is the
// text without handing over.
var owedEnds = feature{
	by:    "engine-owed-ends",
	files: []string{"owed.go", "away.go"},
	cuts: []edit.Edit{
		without("doc.go", `
//
// # What is owed
//
// With [Options].Owed the engine keeps, for a name whose plugin is away, what it knew
// and the ends that it has not heard, also over a restart of the runtime ([Engine.Recall]),
// and tells them after the Synchronize of the name's next connection. Such a name is
// the closed lane of its last connection: ends go through its ledger as ever, and are
// noted instead of sent.
//
// Without the option nothing is kept of a connection that has closed. Of several connections
// of a name at a time those that leave before the last take along what only they knew.
`),
		instead("doc.go", `
that a restart would lose: what there is, the
//     runtime lists, and what is owed is Options.Owed's to keep.
`, `
that a restart would lose: what there is, the
//     runtime lists.
`),
		cut("doc.go", "//   - A name that is away has a ledger, too: what it would be sent is owed, and safe", "//     before Teardown returns."),

		edit.DropImport(engine+"engine.go", "iter"),
		cut("engine.go", "// Owed keeps the ends that plugins have not heard, for when they come back. By", "Decode func(Event, []byte) (any, error)"),
		instead("engine.go", `
	// mu guards what follows. It is held for the work of a few maps and
	// slices. A lane's lock is taken under it only where a name comes or goes, and
	// never the other way round.
`, `
	// mu guards what follows. It is held for the work of a few maps and
	// slices. Neither it nor a lane's lock is taken under the other.
`),
		without("engine.go", `
	away      map[string]*lane // by name, see away.go; replaced, never changed
`),
		without("engine.go", `
	if opts.Encode == nil {
		opts.Encode = func(Event) []byte { return []byte{} }
	}
	if opts.Decode == nil {
		opts.Decode = func(Event, []byte) (any, error) { return nil, nil }
	}
`),
		without("engine.go", `
	e.goneNow(l)
`),
		instead("engine.go", `
	e.change()
	close(l.out)
`, `
	e.change()
`),
		without("engine.go", `
	e.makeSafe(l)
`),

		instead("part.go", `
	p.late = true
	l.oweRest(p)
`, `
	p.late = true
`),
		instead("part.go", `
	if heir := l.heir; heir != nil {
		// The round was handed in before that one came.
		l.mu.Unlock()
		defer l.mu.Lock()
		return heir.post(r)
	}
	if l.closed != nil {
		l.oweAll(r)
		return nil
	}
`, `
	if l.closed != nil {
		return nil
	}
`),
		instead("part.go", `
	if l.overdue() {
		l.oweRest(p)
	}
	if p.late || `, `	if p.late || `),
		instead("part.go", `
		case !l.subscribed(kind):
			l.unsubscribed(kind, goal.Pod, container)
`, `
		case !l.subscribed(kind): // the next one may be
`),
		cut("part.go", "if l.heir != nil {", "}"),
		edit.In(engine+"part.go", edit.Method("lane", "handOn")).Drop(),
		without("part.go", `
	l.owe(p.round, ev, &p.round.events[p.next])
`),

		without("lane.go", `
	out  chan struct{}  // closed once it is none of the engine's lanes either
`),
		cut("lane.go", "// Of what the lane's name is owed, see Owed.", "paid     bool      // whether one came last, rather than one in line"),
		instead("lane.go", "for len(l.debts) > 0 || len(l.line) > 0 {", "for len(l.line) > 0 {"),
		cut("lane.go", "if l.payNext() {", "}"),
		instead("lane.go", "l.line, l.weight, l.debts = nil, 0, nil", "l.line, l.weight = nil, 0"),

		without("request.go", `
	owed     bool // whether it is a debt
`),
		without("request.go", `
	case r.owed && l.breaksAgain(r.event):
		l.pays(r.event) // it is not told any more
`),
		swap("request.go", "rec.Late, rec.Owed = r.event.Late || r.owed || r.part != nil && r.part.late, r.owed", "}", "\trec.Late = r.event.Late || r.part != nil && r.part.late"),
		instead("request.go", "case r.event.Late, r.owed, r.abandoned, r.expired:", "case r.event.Late, r.abandoned, r.expired:"),
		instead("request.go", "Late: r.event.Late || r.owed || r.part != nil && r.part.late, Owed: r.owed, Err: err}", "Late: r.event.Late || r.part != nil && r.part.late, Err: err}"),

		edit.DropImport(engine+"teardown.go", "sync/atomic"),
		instead("teardown.go", "lanes, away, orphans := e.doom(events)", "lanes, orphans := e.doom(events)"),
		cut("teardown.go", "for _, l := range away {", "}"),
		cut("teardown.go", "if r.owes.Load() {", "}"),
		instead("teardown.go", `
connections to tell, and the names that are away. All that is one instant for
// those who join: they find the object ended, or get the ends in their lane.
`, `
connections to tell. All that is one instant for those who join: they find the object
// ended, or get the ends in their lane.
`),
		instead("teardown.go", "(lanes []*lane, away map[string]*lane, orphans map[string]Event)", "(lanes []*lane, orphans map[string]Event)"),
		instead("teardown.go", "return e.lanes, e.away, orphans", "return e.lanes, orphans"),
		instead("teardown.go", `
	collect bool        // whether its caller wants the replies
	owes    atomic.Bool // whether what it owes has to be safe before the runtime goes on
`, `
	collect bool // whether its caller wants the replies
`),

		without("join.go", `
		out:    make(chan struct{}),
`),
		swap("join.go", "for {", "return snapshot, nil", `
	return snapshot, l.takePart(snapshot)
}

// takePart makes a connection one that is synchronized: what it was told of is what it
// knows.
func (l *lane) takePart(s Snapshot) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = nil
	if l.closed != nil {
		return l.closed
	}
	l.joined = true
	l.ledger.seed(s)
	return nil
`),

		cut("observer.go", "// Owed is set for an end that came while no connection of the name was there, or", "Owed bool"),

		cut("snapshot.go", "// Exited are containers that have exited and are still there. They are not told", "Exited []Object"),

		cut("ledger.go", "former     bool // as of a container", "unheard    bool // as of a container"),
		swap("ledger.go", "pod    string", "unheard bool // stopped, as far as all else is concerned, and its Stop is still to be told", `
	pod  string
	mark mark
`),
		instead("ledger.go", "return c.mark != stopped || c.unheard", "return c.mark != stopped"),
		instead("ledger.go", "p.mark == listed || p.mark == told || p.unheard", "p.mark == listed || p.mark == told"),
		instead("ledger.go", `
		pod.mark, pod.former = told, false
		g.pods[ev.Pod] = pod
		return true, nil
`, `
		pod.mark = told
		g.pods[ev.Pod] = pod
		return true, nil
`),
		instead("ledger.go", "return !c.former && (c.mark == listed || c.mark == told), nil", "return c.mark == listed || c.mark == told, nil"),
		instead("ledger.go", "return !pod.former && (pod.mark == listed || pod.mark == told), nil", "return pod.mark == listed || pod.mark == told, nil"),
		instead("ledger.go", `
	pod.mark, pod.former = told, false
	g.pods[ev.Pod] = pod
	return true
`, `
	pod.mark = told
	g.pods[ev.Pod] = pod
	return true
`),
		swap("ledger.go", "c, known := g.containers[container]", "g.containers[container] = containerEntry{pod: pod, mark: told} // it has not stopped, and counts already", `
	if _, known := g.containers[container]; known {
		return false
	}
	g.enter(pod, container, told)
`),
		swap("ledger.go", "if m != stopped {", "}", "\tp.running++"),
		instead("ledger.go", "p.mark, p.unheard = stopped, false", "p.mark = stopped"),
		instead("ledger.go", "c.mark, c.unheard = stopped, false", "c.mark = stopped"),
	},
}
