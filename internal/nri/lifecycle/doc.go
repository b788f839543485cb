// SPDX-License-Identifier: Apache-2.0

// Package lifecycle tells plugins of the lives of pods and containers: each
// event to each plugin that wants it, in order, once, and so that no plugin
// holds up what does not concern it. It knows neither ttrpc nor a container
// runtime: a plugin is a [Connection], which delivers one event, and the
// runtime calls [Engine.Ask], [Engine.Teardown] and [Engine.Join].
//
//	          Ask                   Teardown                   Join
//	 one after the other,       all at once, for        list, Synchronize,
//	 any may reject             one bound together      then take part
//	          |                        |                        |
//	          v                        v                        v
//	+-----------------------------------------------------------------------+
//	| Engine         lanes in index order | creations | ended | inventories |
//	+-------+----------------------------------------------------+----------+
//	        |                                                    |
//	+-------v----------------+                           +-------v----------+
//	| lane   turn, line      |    one for each           | lane             |
//	| ledger told, stopped   |    name                   | ledger           |
//	+-------+----------------+                           +-------+----------+
//	        | session: one request at a time                     |
//	        v                                                    v
//	    Connection                                           Connection
//
// # The parts
//
// A lane is the one way to the plugin of a name. Its connections have it one after the
// other, each as a session. One at a time holds the turn, all others stand in line: the
// caller of an event that may be rejected; a part of a teardown. The line stands until the
// plugin is synchronized. A caller who gives up before its turn leaves the line; a
// connection that closes, and has no successor, lets go of all. Nobody waits for a lock,
// and no lock is held while a plugin is at work, so a plugin and the runtime may call back
// at any point.
//
// A request is one event sent to one connection. It keeps the turn until the
// plugin has answered or the connection is closed, whatever became of its caller
// and of its timeout. Who ends it, mostly the goroutine that brings the answer,
// sends what comes next, so that a lane needs no goroutine of its own.
//
// A connection whose request has timed out, and that its policy keeps, is overdue:
// it is sent nothing, and nobody waits for it. Events that may be rejected fail at
// once, or skip it, by its policy; the ends of what it knows, and the
// beginnings that it missed, wait for its answer in the line.
//
// A ledger (package ledger) is what the plugin knows: of each pod and container whether it
// was listed by Synchronize, told by its first event, or stopped. The lane asks
// it just before it sends. That is the one place that says what may be sent,
// what was sent before, and what has to be sent first. What begins is entered when it is
// sent, an end when it is answered.
//
// A creation is a pod or container whose first event is under way. It is
// sealed when no connection is left to ask, in the same instant: whoever was
// listed for before was asked or is told late. Whoever comes later finds it listed: a pod
// is from its first resource on. A container is not, and the runtime may fail to make it. It
// is told late when the runtime has it: by its next event, or by a list.
//
// A demand is a plugin that has to answer a creation. Before anyone is asked, the
// creation waits until each plugin that it demands is there (a runtime can have it do
// so before it makes anything, with [Engine.Await]), and it is not sealed
// before each has answered: that a connection is there, or was skipped by its
// policy, does not count. Whoever disconnects before it was asked is waited for, who
// goes or times out afterwards fails the creation.
//
// An inventory is what the runtime listed, for all connections that came in before
// the list began, with what the engine knew then. A creation waits for a connection
// only once its inventory is there: a runtime that holds a lock in its operations
// may take the same one for its list.
//
// The ended objects are the pods and containers whose ends were handed in, until
// they have left the runtime's lists: so that one who joins in between is told
// that a pod is stopped, and not told at all of what will not end any more.
//
// A pod, or a container that all agreed to, has vanished if lists are without it for ten minutes
// and no removal was handed in. It has ended for plugins, and the engine keeps nothing of it
// (vanished.go). So nothing stays for ever, whatever a runtime does not say.
//
// # Missed ends
//
// With [Options].MissedEvents the lane of a plugin that is disconnected stays: with its ledger, which
// is what the plugin knew, and without a session. Ends are stored in a record (package away), also over a restart of
// the runtime ([Engine.Recall]). In the next session they are at the head of the line, as parts
// like any other: the ledger says what of them is still to be sent (L18).
//
// Without the option a lane goes with its session.
//
// # Handing over
//
// With [Options].HandOver a connection of a name that has one is its successor (L19). It is
// synchronized while the line stands, and is the lane's session from then on
// (succession.go). Nobody who waits notices.
//
// # The contract
//
//   - L1 Order. Lanes are first in, first out, and the ledger puts the Stop of a
//     container before that of its pod, and a Stop before a Remove.
//   - L2 Nobody is missed. A creation is sealed in an instant without inventories,
//     and those that could not be asked in time are told late.
//   - L3 Every end is told. An object is entered in the ledger before its first
//     event is sent, whatever becomes of that, and leaves it only by its Remove.
//   - L4 One request at a time, and no wait but for one's own: the turn, which a
//     request keeps until it is answered.
//   - L8, L9 Teardown is in all lanes before anyone waits, has a context of its
//     own, and waits for all lanes together one bound. What is late goes on in
//     its lane; what a closed connection was to be told is accounted for.
//   - L10 A second teardown of the same object waits for the first.
//   - L11 The ledger sends nothing twice. The end of a pod ends the creations
//     in it before it is in any lane.
//   - L13 A join holds nothing but its own turn, for no longer than its timeout. A
//     creation waits one such timeout in all, and a teardown not at all, for
//     connections that join.
//   - L14 An event that a plugin did not subscribe to goes through its ledger
//     and not through its turn.
//   - L15 The engine keeps nothing that a restart would lose: what there is, the
//     runtime lists, and what is owed is Options.MissedEvents's to keep.
//   - L16 A timeout is an error for the plugin's failure policy, which is one
//     function ([Policy.Decide]) for the request that timed out and for all that
//     wait behind it. The time of a creation's caller is not the plugin's: what is
//     cut short by that, with time kept back for the undo, is no timeout.
//   - L17 An [Observer] is told of all of it, and [Engine.Status] says what is
//     going on.
//   - L18 A plugin that is disconnected has a lane, too: what it would be sent is stored, and safe
//     before Teardown returns.
//   - L19 A lane has one session at a time.
//   - L20 The seal is rejected until all demands are met, in the instant in which the
//     creation would be sealed. An Unmet error names the plugin.
//   - L22 An overdue connection costs others one timeout, and so does a plugin that
//     fails to be synchronized and comes back. One that hangs in an event and comes
//     back costs one each time, and no creation more than one. All that come in while a
//     creation is under way cost it two at most, together, whatever their names; of those
//     that it demands two may fail it. Lines are bounded in events, bytes and time, and a
//     peer that does not read is closed.
//
// # Time
//
// The clock is package time. Tests run in bubbles of testing/synctest, where
// time is virtual, so nothing of the engine has to be told of another clock.
package lifecycle
