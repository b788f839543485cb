// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// handOver has a connection succeed another one of its name.
var handOver = feature{
	by:    "engine-hand-over",
	files: []string{"handover.go", "handover_gate.go", "handover_lane.go", "handover_turn.go"},
	cuts: []edit.Edit{
		without("doc.go", `
//
// # Handing over
//
// With [Options].HandOver a connection of a name that has one is its successor: it
// is synchronized with what that one knows while the turn of that lane is kept, and then
// takes its place among the lanes, its line and what it is owed, in one instant under
// the engine's lock. What stands in a line knows in which lane it stands, so that nobody
// who waits notices. The lane that was succeeded sends all who still come to it on.
`),
		cut("doc.go", "//   - A lane that is succeeded is sent nothing once its successor has its place, and", "//     its successor nothing before."),

		instead("connection.go", `
a new Connection; two of one name are two Connections, and both are served unless
// the newer one takes over, see Options.HandOver.
`, `
a new Connection; two of one name are two Connections, and both are served.
`),

		cut("engine.go", "// HandOver says of a name, as Connection.Name has it, that a connection of it is", "Copy func(Event) any"),
		cut("engine.go", "pending   []*lane // those that may be successors, until they take over or part; likewise", "standing  map[standing]*lane"),
		without("engine.go", `
	if opts.HandOver == nil {
		opts.HandOver = func(string) bool { return false }
	}
	if opts.Origin == nil {
		opts.Origin = func(Connection) string { return "" }
	}
	if opts.Copy == nil {
		opts.Copy = func(ev Event) any { return ev.Request }
	}
`),
		cut("engine.go", "gates:     make(gates),", "standing:  make(map[standing]*lane),"),
		instead("engine.go", "lanes := slices.Concat(e.lanes, e.pending)", "lanes := e.lanes"),
		without("engine.go", `
	e.succeedAtOnce(l)
`),
		instead("engine.go", "joined := l.joined && l.successor == nil", "joined := l.joined"),
		instead("engine.go", "e.lanes, e.askable, e.pending = without(e.lanes, l), without(e.askable, l), without(e.pending, l)", "e.lanes, e.askable = without(e.lanes, l), without(e.askable, l)"),

		instead("part.go", `
	place  // the lane
`, `
	lane   *lane
`),
		instead("part.go", "p.at.Load().name", "p.lane.name"),
		instead("part.go", `
unsettled() <-chan struct{} {
	l := p.lock()
`, `
unsettled() <-chan struct{} {
	l := p.lane
	l.mu.Lock()
`),
		instead("part.go", `
leave(r *round, waited time.Duration) []error {
	l := p.lock()
`, `
leave(r *round, waited time.Duration) []error {
	l := p.lane
	l.mu.Lock()
`),
		swap("part.go", "p := &part{round: r, posted: time.Now(), owner: true}", "return p", "\treturn &part{lane: l, round: r, posted: time.Now(), owner: true}"),

		without("lane.go", `
	hands    bool // whether it succeeds another one of its name, and is succeeded; see handover.go
`),
		instead("lane.go", "closed when the runtime has listed for it; made when it asks for that, which may be again", "closed when the runtime has listed for it; made when it asks for that"),
		instead("lane.go", "whether the connection was synchronized, or has taken over from one that was", "whether the connection was synchronized"),
		without("lane.go", `
	handover // see handover.go

`),
		instead("lane.go", `
	err   error         // nil for the turn, set before ready is closed
	place               // the lane in whose line it waits
`, `
	err   error         // nil for the turn, set before ready is closed
`),
		swap("lane.go", "// enter waits for the turn and returns the lane in which that was had, with its mu", "// if the lane closes meanwhile, an Overdue if the plugin owes an answer, or", `
// enter waits for the turn, and returns with mu held if it was had. Or it returns
// ErrClosed if the lane closes meanwhile, an Overdue if the plugin owes an answer, or
`),
		swap("lane.go", "func (l *lane) enter(ctx context.Context, patience func() time.Time) (at *lane, since time.Time, err error) {", "func (c *caller) wait(ctx context.Context, joined bool, patience func() time.Time) error {", `
func (l *lane) enter(ctx context.Context, patience func() time.Time) (since time.Time, err error) {
	l.mu.Lock()
	switch {
	case l.closed != nil:
		l.mu.Unlock()
		return since, errAbsent
	case l.overdue():
		err := l.debt()
		l.mu.Unlock()
		return since, err
	case !l.held:
		l.held = true
		return since, nil
	case l.failed && !l.joined:
		l.mu.Unlock()
		return since, errJoining
	}
	c := &caller{ready: make(chan struct{})}
	joined := l.joined
	if full := l.push(entry{caller: c}); full != nil {
		err := l.loss()
		l.mu.Unlock()
		l.engine.drop(l, full)
		return since, err
	}
	l.mu.Unlock()
	since = time.Now()
	if err := l.wait(ctx, c, joined, patience); err != nil {
		return since, err
	}
	l.mu.Lock()
	return since, nil
}

// wait waits for the turn in the line.
func (l *lane) wait(ctx context.Context, c *caller, joined bool, patience func() time.Time) error {
`),
		instead("lane.go", "if c.withdraw(false) {", "if l.withdraw(c, false) {"),
		instead("lane.go", "if c.withdraw(true) {", "if l.withdraw(c, true) {"),
		instead("lane.go", `
// withdraw takes a caller out of the line, if joining is set only of a lane
// whose connection is not synchronized yet, and says whether it did.
func (c *caller) withdraw(joining bool) bool {
	l := c.lock()
`, `
// withdraw takes a caller out of the line, if joining is set only while the
// connection is not synchronized yet, and says whether it did.
func (l *lane) withdraw(c *caller, joining bool) bool {
	l.mu.Lock()
`),
		without("lane.go", `
	case l.yieldsBefore(p):
		l.line = slices.Insert(l.line, 0, entry{part: p})
`),
		instead("lane.go", "for !l.yields() && (len(l.debts) > 0 || len(l.line) > 0) {", "for len(l.debts) > 0 || len(l.line) > 0 {"),
		instead("lane.go", "l.held = l.yields()", "l.held = false"),
		instead("lane.go", `
	l.record(ev)
	switch {
	case l.successor != nil:
		return errMoved
	case l.closed`, `
	switch {
	case l.closed`),

		cut("request.go", "if rec.Outcome == Lost {", "}"),

		without("overdue.go", `
	l.yields() // nothing else is sent to it
`),
		instead("overdue.go", `
	l = l.lockLatest()
`, `
	l.mu.Lock()
`),
		cut("overdue.go", "if next := l.latest(); next != l {", "}"),
		instead("overdue.go", `
	l.record(ev)
	if !l.subscribed(ev.Kind) {
		return false
	}
`, `
	if !l.subscribed(ev.Kind) {
		return false
	}
`),

		instead("ask.go", "// ask asks one connection in its turn, or its successor.", "// ask asks one connection in its turn."),
		instead("ask.go", `
	l = l.latest()
	var reply any
	var err error
`, `
	var reply any
	var err error
`),
		instead("ask.go", "l, reply, err = q.send(l)", "reply, err = q.send(l)"),
		cut("ask.go", "if errors.Is(err, errMoved) {", "}"),
		without("ask.go", `
	case q.creation != nil && unheard(err) && l.latest() != l:
		return q.ask(l) // of the successor of one that will not answer any more
`),
		instead("ask.go", `
// send waits for the turn in a lane and delivers the event there, or in that of a
// successor, which it returns.
func (q *question) send(l *lane) (at *lane, reply any, err error) {
	wanted := l
	l, posted, err := l.enter(q.ctx, q.patience)
	if err != nil {
		return l, nil, q.unsent(l, posted, err)
	}
`, `
// send waits for the turn in a lane and delivers the event there.
func (q *question) send(l *lane) (reply any, err error) {
	posted, err := l.enter(q.ctx, q.patience)
	if err != nil {
		return nil, q.unsent(l, posted, err)
	}
`),
		cut("ask.go", "if send {", "}"),
		instead("ask.go", `
		case err == nil:
			return l, nil, errKnown
		case errors.Is(err, ErrStopped):
			return l, nil, err
		case errors.Is(err, ErrClosed) && q.engine.succeeded(l):
			return l, nil, errMoved
		}
		return l, nil, q.unsent(l, posted, err)
	}
`, `
		case err == nil:
			return nil, errKnown
		case errors.Is(err, ErrStopped):
			return nil, err
		}
		return nil, q.unsent(l, posted, err)
	}
`),
		instead("ask.go", "return l, r.reply, r.outcome", "return r.reply, r.outcome"),
		instead("ask.go", `
			return l, nil, err
		}
		<-ready`, `
			return nil, err
		}
		<-ready`),
		instead("ask.go", "return l, nil, r.outcome //", "return nil, r.outcome //"),
		instead("ask.go", "return l, r.reply, nil", "return r.reply, nil"),

		swap("join.go", "var snapshot Snapshot", "}", "\tsnapshot, err := e.synchronize(ctx, l, sync)"),
		instead("join.go", `
// enroll adds a connection to those that are told of ends, its turn taken. One that
// may be a successor is told of none before it is known that it is not.
`, `
// enroll adds a connection to those that are told of ends, its turn taken.
`),
		without("join.go", `
		hands:    e.opts.HandOver(conn.Name()) && !conn.Policy().Permanent,
`),
		swap("join.go", "if l.hands {", "}", "\te.lanes = insert(e.lanes, l)"),
		without("join.go", `
	case l.hands && !l.wasTold(): // it has not shown anything
`),

		cut("creation.go", "heirs []*lane       // that are told late, since another one was asked; guarded by Engine.mu", "over  chan struct{} // closed when it is sealed or given up, if anyone wants to know; likewise"),
		swap("creation.go", "// askedBefore says whether the connection has a name that was asked before it came in, or", "// hangs, could hold up a creation by turns for ever.", `
// askedBefore says whether the connection has a name that was asked before it came
// in: it is told late. A plugin that is asked twice of one container makes its
// adjustment twice, and those that hang and come back could hold up a creation by turns
// for ever.
`),
		swap("creation.go", "predecessors := 0", "return false", "\treturn slices.ContainsFunc(c.asked[:c.earlier], func(o *lane) bool { return o.name == l.name })"),
		instead("creation.go", `
			if err := q.askSuccessors(asked); err != nil {
				return err
			}
`, `
			if err := q.await(); err != nil {
				return err
			}
`),
		edit.In(engine+"creation.go", edit.Method("question", "askSuccessors")).Drop(),
		instead("creation.go", `
	c.settle()
	for _, l := range e.listing {
		if !slices.Contains(e.pending, l) { // to whom another one tells
			c.missed = append(c.missed, l)
		}
	}
	c.missed = append(c.missed, c.heirs...)
`, `
	c.missed = append(c.missed, e.listing...)
`),
		instead("creation.go", `
	c.settle()
	if o :=`, `	if o :=`),

		edit.In(engine+"required.go", edit.Method("question", "mayBeMetBy")).Drop(),

		instead("list.go", "if slices.Contains(e.lanes, l) || slices.Contains(e.pending, l) {", "if slices.Contains(e.lanes, l) {"),

		cut("status.go", "// TakesOver is set while it is to take over from another one of its name, or waits", "TakesOver bool"),
		swap("status.go", "lanes, pending := e.lanes, e.pending", "}", "\tlanes := e.lanes"),
		swap("status.go", "c := l.status()", "s.Connections = append(s.Connections, c)", "\t\ts.Connections = append(s.Connections, l.status())"),

		instead("away.go", `
of all locks that of one lane is taken
// with that of another here and in turn alone, under mu.
`, `
of all locks that of one lane is taken
// with that of another here alone, under mu.
`),
	},
}
