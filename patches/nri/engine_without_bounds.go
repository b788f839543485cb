// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// bounds keep a plugin that owes an answer from costing others more than one timeout,
// and its line from growing without end.
var bounds = feature{
	by:    "engine-bounds",
	files: []string{"overdue.go"},
	cuts: []edit.Edit{
		cut("doc.go", "// A connection whose request has timed out, and that its policy keeps, is overdue:", "//"),
		instead("doc.go", `
//   - An overdue connection costs others one timeout. Lines are bounded in
//     events, bytes and time, and a peer that does not read is closed.
`, `
//   - Lines are bounded in events and bytes.
`),
		without("doc.go", `
//   - Lines are bounded in events and bytes.
`),

		cut("engine.go", "// OverdueLimit is how long a plugin that is kept may owe an answer before it", "OverdueLimit time.Duration"),
		cut("engine.go", "if opts.OverdueLimit == 0 {", "}"),
		cut("engine.go", "// BacklogLimit is how many events may wait for one plugin before it is", "Weigh func(Event) int"),
		cut("engine.go", "if opts.BacklogLimit == 0 {", "}"),
		cut("engine.go", "if opts.BacklogBytes == 0 {", "}"),
		cut("engine.go", "if opts.Weigh == nil {", "}"),

		instead("part.go", "\tif p.over || l.overdue() {", "\tif p.over {"),
		cut("part.go", "if l.overdue() {", "}"),
		instead("part.go", "p.late = l.overdue() || !l.joined", "p.late = !l.joined"),
		instead("part.go", `
		weight := 0
		for _, ev := range r.events {
			weight += l.engine.opts.Weigh(ev)
		}
		if full := l.push(entry{part: p, weight: weight}); full != nil {
			l.mu.Unlock()
			l.engine.drop(l, full)
			l.mu.Lock()
			l.advance(p)
		}
`, `
		l.line = append(l.line, p)
`),
		instead("part.go", `
	for _, e := range l.line {
		if e.part != nil && e.part.round.last().same(last) {
			return e.part
`, `
	for _, p := range l.line {
		if p.round.last().same(last) {
			return p
`),

		without("request.go", `
	kept      bool // it did, and the connection was not dropped for it
`),
		cut("request.go", "if !drop {", "}"),
		instead("request.go", "// dropped or, by its policy, overdue: it is asked nothing until it answers.", "// dropped unless its policy keeps it."),
		instead("request.go", `
 When the
// timeout passes it has failed, and the connection is dropped or overdue.`, `
 When the
// timeout passes it has failed.`),

		cut("policy.go", "// An Overdue error says that a plugin was not asked, because it owes an answer.", "func (o *Overdue) Unwrap() error { return context.DeadlineExceeded }"),
		edit.DropImport(engine+"policy.go", "context"),
		edit.DropImport(engine+"policy.go", "time"),

		instead("teardown.go", "connection that is overdue or not synchronized yet.", "connection that is not synchronized yet."),

		edit.In(engine+"lane.go", edit.Method("lane", "push")).Drop(),
		edit.In(engine+"lane.go", edit.Type("entry")).Drop(),
		instead("lane.go", `
	line    []entry // who comes next
	weight  int     // of the events in line
`, `
	line    []*part // who comes next
`),
		instead("lane.go", `
func (l *lane) pop() entry {
	e := l.line[0]
	l.line[0] = entry{}
	if l.line = l.line[1:]; len(l.line) == 0 {
		l.line = nil
	}
	l.weight -= e.weight
	return e
`, `
func (l *lane) pop() *part {
	p := l.line[0]
	l.line[0] = nil
	if l.line = l.line[1:]; len(l.line) == 0 {
		l.line = nil
	}
	return p
`),
		instead("lane.go", "if e := l.pop(); l.advance(e.part) {", "if l.advance(l.pop()) {"),
		instead("lane.go", "l.line, l.weight = nil, 0", "l.line = nil"),
		instead("lane.go", `
	for _, e := range line {
		l.mu.Lock()
		l.advance(e.part)
`, `
	for _, p := range line {
		l.mu.Lock()
		l.advance(p)
`),
		edit.DropImport(engine+"lane.go", "fmt"),

		swap("connection.go", "var (", ")", `
// ErrClosed says that a connection closed, or the engine did.
var ErrClosed = errors.New("connection closed")
`),
	},
}
