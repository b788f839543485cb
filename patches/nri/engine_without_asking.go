// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// asking asks plugins in turn of what each of them may refuse.
var asking = feature{
	by:    "engine-asking",
	files: []string{"ask.go"},
	cuts: []edit.Edit{
		instead("doc.go", "runtime calls [Engine.Ask], [Engine.Teardown] and [Engine.Join].", "runtime calls [Engine.Teardown] and [Engine.Join]."),
		swap("doc.go", "//\t          Ask                   Teardown                   Join", "//\t          v                        v                        v", `
//	                                Teardown                   Join
//	                            all at once, for        list, Synchronize,
//	                            one bound together      then take part
//	                                   |                        |
//	                                   v                        v
`),
		swap("doc.go", "// others stand in line: the join, until the plugin is synchronized; the caller of", "// its turn leaves the line; a connection that closes lets go of all. Nobody waits", `
// others stand in line: the join, until the plugin is synchronized; a part of a
// teardown. A connection that closes lets go of all. Nobody waits
`),
		swap("doc.go", "// it is sent nothing, and nobody waits for it. Events that may be refused fail at", "// the line.", `
// it is sent nothing, and nobody waits for it. The ends of what it knows wait for its
// answer in the line.
`),
		swap("doc.go", "//   - A join holds nothing but its own turn, for no longer than its timeout. An", "//     for connections that join.", `
//   - A join holds nothing but its own turn, for no longer than its timeout. A
//     teardown does not wait for connections that join.
`),
		instead("doc.go", `
//     function ([Policy.Decide]) for the request that timed out and for all that
//     wait behind it. What is cut short by its caller is no timeout.
`, `
//     function ([Policy.Decide]).
`),
		instead("doc.go", `
whatever became of its caller
// and of its timeout.`, `
whatever became of its
// timeout.`),

		edit.In(engine+"lane.go", edit.Type("caller")).Drop(),
		edit.In(engine+"lane.go", edit.Method("lane", "enter")).Drop(),
		edit.In(engine+"lane.go", edit.Method("lane", "wait")).Drop(),
		edit.In(engine+"lane.go", edit.Method("lane", "withdraw")).Drop(),
		edit.In(engine+"lane.go", edit.Method("lane", "note")).Drop(),
		without("lane.go", `
	caller *caller
`),
		without("lane.go", `
	note   Event
`),
		swap("lane.go", "// An entry of the line is one of three: a caller who waits for the turn, a part", "// changes the ledger, in its place.", "// An entry of the line is a part of a teardown."),
		cut("lane.go", "var (", ")"),
		instead("lane.go", `
		e := l.pop()
		switch {
		case e.caller != nil:
			close(e.caller.ready)
			return
		case e.part != nil:
			if l.advance(e.part) {
				return
			}
		default:
			_, _ = l.ledger.admit(e.note) // what it says was for the caller, who did not wait
`, `
		if e := l.pop(); l.advance(e.part) {
			return
`),
		edit.In(engine+"lane.go", edit.Method("lane", "loss")).Drop(),
		instead("lane.go", "r, line, cut, err := l.current, l.line, l.cut, l.loss()", "r, line, cut := l.current, l.line, l.cut"),
		instead("lane.go", `
		switch {
		case e.caller != nil:
			e.caller.err = err
			close(e.caller.ready)
		case e.part != nil:
			l.mu.Lock()
			l.advance(e.part)
			l.mu.Unlock()
		}
`, `
		l.mu.Lock()
		l.advance(e.part)
		l.mu.Unlock()
`),
		edit.DropImport(engine+"lane.go", "errors"),
		edit.DropImport(engine+"lane.go", "slices"),
		instead("lane.go", `
by the join, until the connection is synchronized; by the caller of an event
// that may be refused; or by the events of a teardown.`, "by the join, until the connection is synchronized, or by the events of a teardown."),
		instead("lane.go", `
by the join, until the connection is synchronized, or by the events of a teardown. A request that was sent
// keeps the turn until the plugin has answered it. Who comes while it is held
// waits in line, first come first served.`, `
by the join, until the connection is synchronized, or by the events of a teardown.
// A request that was sent keeps the turn until the plugin has answered it. Who comes
// while it is held waits in line, first come first served.`),

		edit.In(engine+"engine.go", edit.Method("Engine", "asked")).Drop(),
		without("engine.go", `
	askable   []*lane // of those, the ones that were listed for; likewise
`),
		instead("engine.go", "\te.lanes, e.askable = without(e.lanes, l), without(e.askable, l)", "\te.lanes = without(e.lanes, l)"),

		instead("overdue.go", `
// fallBehind makes the connection overdue, and returns the callers to let go.
// l.mu is held.
func (l *lane) fallBehind(r *request) (passed []*caller) {
	r.kept = true
	if r.part != nil {
		r.part.release()
	}
	rest := l.line[:0]
	for _, e := range l.line {
		if e.caller != nil {
			e.caller.err = l.debt()
			l.weight -= e.weight
			passed = append(passed, e.caller)
			continue
		}
		if e.part != nil {
			e.part.release()
		}
		rest = append(rest, e)
	}
	clear(l.line[len(rest):])
	l.line = rest
`, `
// fallBehind makes the connection overdue. l.mu is held.
func (l *lane) fallBehind(r *request) {
	r.kept = true
	if r.part != nil {
		r.part.release()
	}
	for _, e := range l.line {
		e.part.release()
	}
`),
		without("overdue.go", `
	return passed
`),
		swap("overdue.go", "// waits for it, so that it costs the node one timeout and not one for each pod:", "// it knows wait for its answer in order, within the bounds of its backlog.", `
// waits for it, so that it costs the node one timeout and not one for each pod.
// The ends of what it knows wait for its answer in order, within the bounds of
// its backlog.
`),

		instead("request.go", `
	var passed []*caller
	if !drop {
		passed = l.fallBehind(r)
`, `
	if !drop {
		l.fallBehind(r)
`),
		without("request.go", `
	l.mu.Lock()
	r.wake()
	l.mu.Unlock()
	for _, c := range passed {
		close(c.ready)
	}
`),
		cut("request.go", "if !r.expired {", "}"),
		edit.In(engine+"request.go", edit.Method("request", "wake")).Drop(),
		cut("request.go", "// What the caller gets. Written before ready is closed, or the caller sees", "outcome error // nil, errWithout or what fails the caller's request"),
		swap("request.go", "fail, drop := l.policy.Decide(r.event.Kind, f)", "return drop", `
	if r.part != nil {
		r.part.fail(r.event, err)
	}
	return l.policy.Decide(f)
`),
		instead("request.go", `
	return l.policy.Decide(f)
`, `
	_, drop = l.policy.Decide(r.event.Kind, f)
	return drop
`),
		without("request.go", `
	abandoned bool // the caller has left
`),
		instead("request.go", "late := r.expired || r.abandoned // what became of it was told then", "late := r.expired // what became of it was told then"),
		instead("request.go", "\tcase r.event.Late, r.abandoned, r.expired:", "\tcase r.event.Late, r.expired:"),
		swap("request.go", "if !r.abandoned {", "}", "\tl.engine.opts.Observer.Delivered(rec)"),

		cut("policy.go", "// An Error says which connection failed a request, and how.", "func (e *Error) Unwrap() error { return e.Err }"),
		cut("policy.go", "// Debt is when it was not asked, since it still owes an answer to another request.", "Debt"),
		instead("policy.go", `, Debt: "debt"}`, "}"),

		cut("observer.go", "// Canceled is when the caller gave up after the event was sent.", "Withdrawn"),
		cut("observer.go", "// PassedOver is when the plugin was not asked, since it owed an answer or was still", "PassedOver"),
		cut("observer.go", `Canceled: "canceled",`, `Withdrawn: "withdrawn",`),
		cutLine("observer.go", `PassedOver: "passed over",`),

		without("list.go", `
	for _, l := range lanes {
		if taken.err == nil && slices.Contains(e.lanes, l) {
			e.askable = insert(e.askable, l)
		}
	}
`),
		instead("list.go", `
// hand gives an inventory to those it was taken for. From the same instant on
// they are asked of new pods and containers.
`, `
// hand gives an inventory to those it was taken for.
`),
	},
}
