// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// creations are first events, which reach every connection that is there or joins
// meanwhile, in time or late.
var creations = feature{
	by:    "engine-creations",
	files: []string{"creation.go"},
	cuts: []edit.Edit{
		cut("doc.go", "// A creation is a pod or container whose first event is under way. It is", "//"),
		swap("doc.go", "// the list began, with what the engine knew then. A creation waits for a connection", "// may take the same one for its list.", "// the list began, with what the engine knew then."),
		cut("doc.go", "//   - Nobody is missed. A creation is sealed in an instant without inventories,", "//     and those that could not be asked in time are told late."),
		instead("doc.go", `
 nothing twice. The end of a pod ends the creations
//     in it before it is in any lane.
`, `
 nothing twice.
`),
		swap("doc.go", "//   - A join holds nothing but its own turn, for no longer than its timeout. A", "//     connections that join.", `
//   - A join holds nothing but its own turn, for no longer than its timeout. An
//     event that may be refused waits one such timeout in all, and a teardown not at all,
//     for connections that join.
`),
		instead("doc.go", `
wait behind it. The time of a creation's caller is not the plugin's: what is
//     cut short by that, with time kept back for the undo, is no timeout.
`, `
wait behind it. What is cut short by its caller is no timeout.
`),
		instead("doc.go", `
//     fails to be synchronized and comes back. One that hangs in an event and comes
//     back costs one each time, and no creation more than one. Lines are bounded in
//     events, bytes and time,`, `
//     fails to be synchronized and comes back. Lines are bounded in
//     events, bytes and time,`),
		instead("doc.go", `
once, or pass over it, by its policy; the ends of what it knows, and the
// beginnings that it missed, wait for its answer in the line.
`, `
once, or pass over it, by its policy; the ends of what it knows wait for its answer in
// the line.
`),
		instead("doc.go", "| Engine   connections in index order | creations | ended | inventories |", "| Engine   connections in index order |             ended | inventories |"),
		instead("doc.go", `
costs others one timeout, and so does a plugin that
//     fails to be synchronized and comes back. Lines are`, "costs others one timeout. Lines are"),

		cut("ask.go", "// A first event, of kind RunPodSandbox or CreateContainer, reaches every", "//"),
		cut("ask.go", "// Of a caller with a deadline, a first event leaves time for that Teardown.", "//"),
		without("ask.go", `
	creation *creation // that a first event belongs to, else nil
`),
		instead("ask.go", `
	switch {
	case !l.subscribed(q.event.Kind):
		err = l.note(q.event, q.creation)
	case q.creation.askedBefore(l):
		err = q.unsent(l, time.Time{}, errReturned)
	default:
		reply, err = q.send(l)
		q.creation.told(l, err)
`, `
	if l.subscribed(q.event.Kind) {
		reply, err = q.send(l)
	} else {
		err = l.note(q.event)
`),
		without("ask.go", `
	case q.creation.undone():
		err = ErrStopped
`),
		instead("ask.go", ", errors.Is(err, errReturned):", ":"),
		instead("ask.go", `
// nothing of the plugin, the plugin joins or has come back, or it failed, which its
// policy judges.
`, `
// nothing of the plugin, the plugin joins, or it failed, which its policy judges.
`),
		instead("ask.go", `
		q.creation.missedBy(l)
		q.engine`, "\t\tq.engine"),
		cut("ask.go", "if failure == Debt {", "}"),
		edit.In(engine+"ask.go", edit.Method("question", "refuseEnded")).Drop(),
		cut("ask.go", "if err := q.refuseEnded(); err != nil {", "}"),
		instead("ask.go", "return q.refuseEnded() // it may have ended while the last was asked", "return nil"),
		instead("ask.go", `
// What begins, a pod, a container or its start, is refused with ErrStopped if its
// end, or that of its pod, was handed in before Ask returned.
`, `
// What begins, a pod, a container or its start, is refused with ErrStopped if a
// connection was told of its end, or of that of its pod.
`),
		instead("ask.go", `
	switch {
	case ev.Kind.final() || ev.Kind == Synchronize || ev.Kind == 0:
		return fmt.Errorf("%s is not an event to ask for", ev)
	case ev.Kind.first():
		return e.create(ctx, ev, each)
	case ev.Kind == PostCreateContainer:
		e.listed(ev)
`, `
	if ev.Kind.final() || ev.Kind == Synchronize || ev.Kind == 0 {
		return fmt.Errorf("%s is not an event to ask for", ev)
`),

		without("lane.go", `
	missed *Event
`),
		swap("lane.go", "// An entry of the line is one of four: a caller who waits for the turn, a part", "// not subscribe to and that only changes the ledger, in its place.", `
// An entry of the line is one of three: a caller who waits for the turn, a part
// of a teardown, or an event that the plugin did not subscribe to and that only
// changes the ledger, in its place.
`),
		cut("lane.go", "// errReturned is what a creation gets that has asked the plugin, and finds that it", `errReturned = errors.New("back since it was asked")`),
		without("lane.go", `
		case e.missed != nil:
			if l.catchUp(*e.missed) {
				return
			}
`),
		instead("lane.go", "note(ev Event, c *creation) error", "note(ev Event) error"),
		without("lane.go", `
	case c.undone():
		return ErrStopped
`),
		without("lane.go", `
	seq       uint64        // its number among those listed for; written before it is askable
`),
		without("lane.go", `
	failed bool // whether the last connection of that name failed to be synchronized
`),
		without("lane.go", `
	case l.failed && !l.joined:
		l.mu.Unlock()
		return since, errJoining
`),
		swap("lane.go", "// to be synchronized, and those who come to a connection whose last one", "// again.", "\t// to be synchronized."),

		edit.In(engine+"overdue.go", edit.Method("lane", "missedEvent")).Drop(),
		edit.In(engine+"overdue.go", edit.Method("lane", "catchUp")).Drop(),
		edit.In(engine+"overdue.go", edit.Method("lane", "collapse")).Drop(),
		edit.DropImport(engine+"overdue.go", "slices"),
		instead("overdue.go", `
// it knows, and the beginnings that it missed, wait for its answer in order,
// within the bounds of its backlog.
`, `
// it knows wait for its answer in order, within the bounds of its backlog.
`),

		without("part.go", `
	l.collapse(r.events)
`),

		without("list.go", `
	creations []Event // of containers that the runtime may not list yet
`),
		cut("list.go", "omit      bool            // Options.OmitCreating", "agreed    map[string]bool // pods that the connection will not be asked for"),
		swap("list.go", "k := inventory{ended: e.ended.clone(), omit: e.opts.OmitCreating, agreed: maps.Clone(e.agreed)}", "return k", "\treturn inventory{ended: e.ended.clone()}"),
		edit.DropImport(engine+"list.go", "maps"),
		cut("list.go", "if b.omit && p.Creating && !b.agreed[p.Pod] {", "}"),
		instead("list.go", `
	add := func(c Object) {
		o := object{c.Pod, c.Container}
		if b.ended.stage(o) != alive {
			return
		}
		if i, twice := seen[o]; twice {
			s.Containers[i] = c
			return
		}
		seen[o] = len(s.Containers)
		s.Containers = append(s.Containers, c)
	}
	for _, ev := range b.creations {
		add(Object{Pod: ev.Pod, Container: ev.Container, Value: ev.Request})
	}
	for _, c := range b.snapshot.Containers {
		add(c)
`, `
	for _, c := range b.snapshot.Containers {
		o := object{c.Pod, c.Container}
		if b.ended.stage(o) != alive {
			continue
		}
		if i, twice := seen[o]; twice {
			s.Containers[i] = c
			continue
		}
		seen[o] = len(s.Containers)
		s.Containers = append(s.Containers, c)
`),
		without("list.go", `
// with containers that are in the runtime's hands on their way to its list,
`),
		without("list.go", `
		e.lists++
		l.seq = e.lists
`),

		cut("engine.go", "lists     uint64  // the number of the last connection that was listed for", "creations map[object]*creation"),
		cutLine("engine.go", "agreed map[string]bool // pods all were asked for, until their end: kept with OmitCreating"),
		cut("engine.go", "// OmitCreating leaves pods that are being created out of what a connection", "OmitCreating bool"),
		without("engine.go", `
		creations: make(map[object]*creation),
`),
		without("engine.go", `
		agreed:    make(map[string]bool),
`),
		instead("engine.go", `
	// empty for the pod's own Stop. of is the end that was handed in or, for a
	// container on its way to the runtime's list, its CreateContainer. By
`, `
	// empty for the pod's own Stop. of is the end that was handed in. By
`),
		cutLine("engine.go", "failed map[string]bool // names whose last connection was not synchronized"),
		without("engine.go", `
		failed:    make(map[string]bool),
`),

		cut("teardown.go", `if ev.Container == "" {`, "}"),
		swap("teardown.go", "for o, c := range e.creations {", "return e.lanes, orphans", "\treturn e.lanes"),
		instead("teardown.go", "doom(events []Event) (lanes []*lane, orphans map[string]Event) {", "doom(events []Event) (lanes []*lane) {"),
		instead("teardown.go", `
lanes, orphans := e.doom(events)
	r.orphans = orphans
`, `
lanes := e.doom(events)
`),
		instead("teardown.go", `
// doom enters ends, stops the creations that they end, and returns the
// connections`, `
// doom enters ends, and returns the
// connections`),
		without("teardown.go", `
//
// orphans are the containers, with their CreateContainer, that all agreed to
// and that go with their pod before the runtime lists them, so that it hands
// in no end of theirs. Of those that not all have agreed to the request may
// still be changing.
`),
		without("teardown.go", `
	orphans map[string]Event
`),
		swap("teardown.go", "of, orphan := r.orphans[ev.Container]", "ev.Request = e.opts.ImpliedEnd(ev.Kind, ev.Container, of)", "\tev.Request = e.opts.ImpliedEnd(ev.Kind, ev.Container, goal)"),

		edit.DropImport(engine+"timeouts.go", "context"),
		edit.In(engine+"timeouts.go", edit.Method("Engine", "withUndo")).Drop(),

		edit.In(engine+"ended.go", edit.Method("endedObjects", "forget")).Drop(),

		without("join.go", `
	e.remember(l, err)
`),
		without("join.go", `
	l.failed = e.failed[l.name]
`),
		edit.In(engine+"join.go", edit.Const("names")).Drop(),
		edit.In(engine+"join.go", edit.Method("Engine", "remember")).Drop(),
	},
}
