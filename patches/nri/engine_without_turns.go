// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// turns deliver ends to connections that come and go: requests, lines and teardown.
var turns = feature{
	by:    "lifecycle-engine",
	files: []string{"doc.go", "part.go", "teardown.go", "request.go", "timeouts.go", "policy.go"},
	cuts: []edit.Edit{
		without("join.go", `
	l.mu.Lock()
	l.passOn()
	l.mu.Unlock()
`),
		without("join.go", `
		policy: conn.Policy(),
`),
		without("join.go", `
		held:   true,
		ledger: newLedger(),
`),
		cut("join.go", "for k := Synchronize; k < kinds; k++ {", "}"),
		without("join.go", `
	l.ledger.seed(s)
`),
		instead("join.go", "return snapshot, l.takePart(snapshot)", "return snapshot, l.takePart()"),
		instead("join.go", "takePart(s Snapshot) error", "takePart() error"),
		instead("join.go", `
// takePart makes a connection one that is synchronized: what it was told of is what it
// knows.
`, `
// takePart makes a connection one that is synchronized.
`),
		instead("join.go", "// synchronize lists, sends, and seeds the ledger.", "// synchronize lists and sends."),
		instead("join.go", "// enroll adds a connection to those that are told of ends, its turn taken.", "// enroll adds a connection to those that are there."),
		swap("join.go", "// The runtime lists what there is, see Options.List. From then on the connection", "// its lane, and nobody else waits for it for longer than one SyncTimeout.", "// The runtime lists what there is, see Options.List."),
		swap("join.go", "// time as its deadline and ends with the connection. What the plugin asks for in its reply", "// go on as if it had never come.", `
// time as its deadline and ends with the connection.
//
// If Join fails, the connection is closed.
`),
		instead("join.go", `
	switch {
	case l.lost():
		return l.reason()
`, `
	l.mu.Lock()
	closed = l.closed
	l.mu.Unlock()
	switch {
	case closed != nil:
		return closed
`),

		edit.In(engine+"lane.go", edit.Method("lane", "pop")).Drop(),
		edit.In(engine+"lane.go", edit.Method("lane", "goOn")).Drop(),
		edit.In(engine+"lane.go", edit.Method("lane", "passOn")).Drop(),
		without("lane.go", `
func (l *lane) subscribed(k Kind) bool { return l.wants&(1<<k) != 0 }

`),
		without("lane.go", `
	policy Policy
`),
		without("lane.go", `
	wants  uint32 // the kinds subscribed to, as bits
`),
		cut("lane.go", "held bool // whether someone has the turn; if not, the line is empty", "ledger ledger"),
		swap("lane.go", "l.work.Add(1)", "l.line = nil", "\tcut := l.cut"),
		without("lane.go", `
	if r != nil {
		r.cut()
		r.answer(nil, ErrClosed) // unless it was answered, or who sends it will see
	}
	for _, p := range line {
		l.mu.Lock()
		l.advance(p)
		l.mu.Unlock()
	}
`),
		swap("lane.go", "// close shuts the lane. The request under way is cut short, those in line are", "// returns false if the lane was shut before.", `
// close shuts the lane, and cuts the Synchronize short. It returns false if the lane was
// shut before.
`),
		cutLine("lane.go", "work sync.WaitGroup // what has to be over before the connection has left; nothing starts once closed"),
		swap("lane.go", "// A lane is the one way to a connection. Its turn is held by one at a time:", "// one that brings the plugin's answer, sends the next.", "// A lane is the one way to a connection."),
		edit.In(engine+"lane.go", edit.Method("lane", "reason")).Drop(),

		without("engine.go", `
	l.work.Wait()
`),
		cut("engine.go", "// RequestTimeout is how long a plugin may take for one event, from when", "RequestTimeout func() time.Duration"),
		cut("engine.go", "// TeardownWait is how long a Teardown waits for all plugins together. It", "TeardownWait func() time.Duration"),
		cut("engine.go", "// ImpliedEnd makes the request of an end that a plugin has to be told and", "Unheard func(conn Connection, event Event, reply any)"),
		cut("engine.go", "if opts.RequestTimeout == nil {", "}"),
		cut("engine.go", "if opts.TeardownWait == nil {", "}"),
		cut("engine.go", "if opts.ImpliedEnd == nil {", "}"),
		cut("engine.go", "if opts.Unheard == nil {", "}"),

		cut("connection.go", "// Subscribed says whether the plugin wants events of a kind. The engine", "Policy() Policy"),
		cut("connection.go", "// Deliver sends one event and calls answer with the plugin's reply, nil if", "Deliver(ctx context.Context, event Event, due time.Time, answer func(reply any, err error))"),
		edit.DropImport(engine+"connection.go", "context"),
		edit.DropImport(engine+"connection.go", "time"),

		cut("observer.go", "// Delivered is called when an event ended for a connection that", "Recovered(conn Connection, event Event, took time.Duration)"),
		edit.In(engine+"observer.go", edit.Type("Delivery")).Drop(),
		edit.In(engine+"observer.go", edit.Type("Outcome")).Drop(),
		edit.In(engine+"observer.go", edit.Method("Outcome", "String")).Drop(),
		cut("observer.go", "const (", ")"),
		cut("observer.go", "var outcomeNames = [...]string{", "}"),
		cut("observer.go", "func (unobserved) Delivered(Delivery) {}", "func (unobserved) Recovered(Connection, Event, time.Duration) {}"),
		edit.DropImport(engine+"observer.go", "context"),
		swap("observer.go", "// Left is called once for each connection that came in, synchronized or not, when", "// and nobody waits for them. reason is ErrClosed if the connection closed of itself,", "\t// Left is called once for each connection that came in, synchronized or not. reason is ErrClosed if the connection closed of itself,"),
	},
}
