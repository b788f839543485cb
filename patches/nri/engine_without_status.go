// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// engineStatus says what the engine is doing. What is cut here is the text without
// required plugins, owed ends and handing over; each file below goes on from the one
// above it, as engine_stages.go lists them.
var engineStatus = feature{
	by:    "engine-status",
	files: []string{"status.go"},
	cuts: []edit.Edit{
		instead("doc.go", `
//   - An [Observer] is told of all of it, and [Engine.Status] says what is
//     going on.
`, `
//   - An [Observer] is told of all of it.
`),

		cut("lane.go", "synced time.Time // since when it is", "failureAt time.Time // when it did"),

		instead("join.go", "l.cut, l.synced = cut, time.Now()", "l.cut = cut"),

		cut("request.go", "if rec.Err != nil {", "}"),
		instead("request.go", `
	l.failure, l.failureAt = err, time.Now()
	rec := `, "\trec := "),

		without("creation.go", `
	asking atomic.Pointer[lane]
`),
		without("creation.go", `
	since  time.Time
`),
		instead("creation.go", "c := &creation{event: ev, since: time.Now()}", "c := &creation{event: ev}"),
		edit.In(engine+"creation.go", edit.Method("creation", "waitFor")).Drop(),
		edit.DropImport(engine+"creation.go", "time"),

		without("ask.go", `
		q.creation.waitFor(l)
`),
		without("ask.go", `
		q.creation.waitFor(nil)
`),
	},
}
