// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// inventories are lists of the runtime that are taken once for all who join, and
// corrected by what ended meanwhile.
var inventories = feature{
	by:    "engine-inventories",
	files: []string{"list.go", "ended.go"},
	cuts: []edit.Edit{
		without("doc.go", `
// An inventory is what the runtime listed, for all connections that came in before
// the list began, with what the engine knew then.
//
// The ended objects are the pods and containers whose ends were handed in, until
// they have left the runtime's lists: so that one who joins in between is told
// that a pod is stopped, and not told at all of what will not end any more.
//
`),
		instead("doc.go", "| Engine   connections in index order |             ended | inventories |", "| Engine   connections in index order                                   |"),

		cut("engine.go", "unlisted  []*lane // those that wait for an inventory to begin", "removed   removals"),
		without("engine.go", `
		ended:     make(endedObjects),
`),
		instead("engine.go", `
	// work are the goroutines that watch connections, one for each, and the one
	// that takes inventories.
`, `
	// work are the goroutines that watch connections, one for each.
`),

		cut("lane.go", "listed    chan struct{} // closed when the runtime has listed for it; made when it asks for that", "inventory inventory     // what it listed; written before listed is closed"),

		instead("teardown.go", "e.doom(events)", "e.connected()"),
		swap("teardown.go", "// doom enters ends, and returns the", "}", `
// connected returns the connections to tell.
func (e *Engine) connected() []*lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lanes
}
`),
		without("teardown.go", `
//
// From a Remove on, connections that join are not told of the object any more,
// though the runtime may list it for a while.
`),

		instead("join.go", "// sync sends what was listed, corrected by what the engine knows, to the plugin,", "// sync sends what was listed to the plugin,"),
		swap("join.go", "taken, err := e.list(ctx, l)", "snapshot := taken.correct()", `
	snapshot, err := e.opts.List(ctx)
	if err != nil {
		return Snapshot{}, err
	}
`),
		cut("join.go", "// ErrList says that the runtime did not list what there is in time.", `var ErrList = errors.New("the runtime has not listed its pods")`),
		edit.DropImport(engine+"join.go", "errors"),
	},
}
