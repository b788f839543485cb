// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// requiredPlugins holds creations back for want of a plugin, and gives plugins timeouts
// of their own. What is cut here is the text without owed ends and handing over.
var requiredPlugins = feature{
	by:    "engine-required",
	files: []string{"required.go", "await.go", "await_early.go", "unmet.go"},
	cuts: []edit.Edit{
		cut("doc.go", "// A demand is a plugin that has to answer a creation. Before anyone is asked, the", "//"),
		cut("doc.go", "//   - The seal is refused until all demands are met, in the instant in which the", "//     creation would be sealed. An Unmet error names the plugin."),

		swap("engine.go", "// asked at each Join. Default 5 s. Either timeout may be another for one", "Required func(Event) ([]Requirement, error)", `
	// asked at each Join. Default 5 s.
	SyncTimeout func() time.Duration
`),
		swap("engine.go", "opts  Options", "stop  context.CancelFunc", `
	opts Options
	ctx  context.Context // of the engine itself
	stop context.CancelFunc
`),
		without("engine.go", `
	absent    absences
`),
		without("engine.go", `
	changed   chan struct{}    // closed at the next change, nil if nobody waits for one
`),
		without("engine.go", `
		since:     time.Now(),
`),
		without("engine.go", `
		absent:    make(absences),
`),
		cut("engine.go", "l.mu.Lock()", "l.mu.Unlock()"),
		cut("engine.go", "if joined {", "}"),
		without("engine.go", `
	e.change()
`),

		cut("connection.go", "// Timeouts says how long the plugin may take, where that is not as long as any", "Timeouts() Timeouts"),

		edit.DropImport(engine+"timeouts.go", "cmp"),
		without("timeouts.go", `
// Timeouts are those of one plugin. Where they are zero, the engine's hold.
type Timeouts struct {
	Request time.Duration // see Options.RequestTimeout
	Sync    time.Duration // see Options.SyncTimeout
}

// requestTimeout is how long the plugin may take for one event.
func (l *lane) requestTimeout() time.Duration {
	return cmp.Or(l.timeouts.Request, l.engine.opts.RequestTimeout())
}

// syncTimeout is how long it may take for its Synchronize.
func (l *lane) syncTimeout() time.Duration {
	return cmp.Or(l.timeouts.Sync, l.engine.opts.SyncTimeout())
}

`),

		without("lane.go", `
	timeouts Timeouts
`),

		without("join.go", `
		timeouts: conn.Timeouts(),
`),
		instead("join.go", "timeout := l.syncTimeout()", "timeout := l.engine.opts.SyncTimeout()"),

		instead("request.go", "l.requestTimeout()", "l.engine.opts.RequestTimeout()"),

		instead("join.go", `
		delete(e.failed, l.name)
		delete(e.absent, l.name)
		e.change()
`, `
		delete(e.failed, l.name)
`),

		without("request.go", `
	demanded bool // whether it fails its caller, whatever the policy, if it is not answered

`),
		instead("request.go", "if fail || r.demanded {", "if fail {"),
		without("request.go", `
		l.engine.recovered()
`),

		cut("observer.go", "// Awaited is called when a pod or container has waited for a plugin that it", "Refused(*Unmet)"),
		cut("observer.go", "func (unobserved) Awaited(Event, string, time.Duration)       {}", "func (unobserved) Refused(*Unmet)                             {}"),

		cut("status.go", "// Lacks is the required plugin that is away and that it waits for, empty if", "LacksSince time.Time"),
		cut("status.go", "if lack := c.lacks.Load(); lack != nil {", "}"),

		instead("teardown.go", `
			c.doomed.Store(true)
			e.change()
`, `
			c.doomed.Store(true)
`),

		cut("creation.go", "demands []*demand // of which each has to be met before it is sealed", "lacks   atomic.Pointer[lack]"),
		instead("creation.go", `
each func(Connection, any) error) (err error) {
	c := &creation{event: ev, since: time.Now()}
	if c.demands, err = e.demands(ctx, ev); err != nil {
		return err
	}
`, `
each func(Connection, any) error) error {
	c := &creation{event: ev, since: time.Now()}
`),
		instead("creation.go", `
// askAll asks until nobody is left to ask, and all that is demanded is met.
func (q *question) askAll() error {
	if err := q.await(); err != nil {
		return err
	}
`, `
// askAll asks until nobody is left to ask.
func (q *question) askAll() error {
`),
		without("creation.go", `
		case errors.Is(err, errUnanswered):
			if err := q.await(); err != nil {
				return err
			}
			continue
`),
		instead("creation.go", `
find it or not, so they are told of it late unless they did. Before all that
// it demands is met nothing is sealed.
//
`, `
find it or not, so they are told of it late unless they did.
//
`),
		cut("creation.go", "if !c.met() {", "}"),

		swap("ask.go", "// What Options.Required names has to answer a first event, whatever its policy:", "// event leaves time for that Teardown.", "// Of a caller with a deadline, a first event leaves time for that Teardown."),
		instead("ask.go", "case q.creation.askedBefore(l) && !q.demanded(l):", "case q.creation.askedBefore(l):"),
		cut("ask.go", "if q.demanded(l) {", "}"),
		instead("ask.go", "posted: posted, demanded: q.demanded(l)}", "posted: posted}"),
		cut("ask.go", "demanded := q.demanded(l)", "}"),
		instead("ask.go", "Decide(q.event.Kind, failure); fail || demanded {", "Decide(q.event.Kind, failure); fail {"),
	},
}
