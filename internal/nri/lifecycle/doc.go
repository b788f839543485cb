// SPDX-License-Identifier: Apache-2.0

// Package lifecycle delivers the events of pods and containers to plugins: each
// event to each plugin that subscribed to it, in order, and once. A plugin that hangs
// does not delay events of other plugins. The package knows neither ttrpc nor a container
// runtime: a plugin is a [Connection], which delivers one event, and the
// runtime calls [Engine.Ask], [Engine.Teardown] and [Engine.Join].
//
//	          Ask                   Teardown                   Join
//	 one after the other,       all at once, with       list, Synchronize,
//	    each may reject         one common timeout      then all events
//	          |                        |                        |
//	          v                        v                        v
//	+-----------------------------------------------------------------------+
//	| Engine         lanes in index order | creations | ended | inventories |
//	+-------+----------------------------------------------------+----------+
//	        |                                                    |
//	+-------v----------------+                           +-------v----------+
//	| lane   turn, line      |    one for each           | lane             |
//	| ledger begun, stopped  |    name                   | ledger           |
//	+-------+----------------+                           +-------+----------+
//	        | session: one request at a time                     |
//	        v                                                    v
//	    Connection                                           Connection
//
// # The parts
//
// A lane carries all events for the plugin of one name. The connections of that name have it one
// after the other, each as a session. The turn belongs to one holder at a time: to the caller of
// an event that may be rejected, or to a part of a teardown. All others wait in the line. The
// line is paused until the plugin is synchronized. A caller that cancels before its turn leaves
// the line. If a connection closes and has no successor, all that wait for it are released.
// No lock is held while a plugin works, so a plugin and the runtime may call back at any point.
//
// A request is one event sent to one connection. It keeps the turn until the
// plugin has answered or the connection is closed, even if its caller has left or its
// timeout has passed. The goroutine that ends a request, mostly the one that brings the answer,
// sends the next event of the lane. So a lane needs no goroutine of its own.
//
// A connection is overdue if a request to it has timed out and its policy keeps it connected.
// It receives nothing, and no caller waits for it. Events that may be rejected fail at
// once, or skip it, by its policy. The ends of objects that it knows, and the first events that
// it missed, wait in the line for its answer.
//
// A ledger (package ledger) records what the plugin knows: of each pod and container whether
// the plugin received it in Synchronize, by its first event, or has received its Stop. The lane
// asks the ledger just before it sends. The ledger alone decides whether an event may be sent,
// was sent before, or must wait for another event. It records a first event when it is
// sent, and an end when it is answered.
//
// A creation is a pod or container whose first event is under way. It is sealed in the
// instant in which no connection is left to ask. Each connection whose inventory was taken
// before that instant was asked, or receives the event late. A later connection finds a pod in
// its Synchronize, because the runtime lists a pod from its first resource on. A container is
// not listed yet, and the runtime may fail to create it. The connection receives it late when
// the runtime has it: at the container's next event, or when a list has it.
//
// A demand is a plugin that must answer a creation. Before the creation asks any plugin, it
// waits until each demanded plugin is connected. A runtime can do that wait before it makes
// anything, with [Engine.Await]. The creation is not sealed before each demanded plugin has
// answered: that a plugin is connected, or was skipped by its policy, does not count.
// The creation waits for a plugin that disconnects before it was asked. It fails if the
// plugin disconnects or times out after that.
//
// An inventory is one list of the runtime, with what the engine knew when the list began. It
// serves all connections that registered before that. A creation waits for a connection
// only once its inventory is taken, because the runtime may hold a lock in its operations
// that its list takes, too.
//
// The ended objects are the pods and containers whose ends the runtime has submitted, until
// they have left the runtime's lists. They correct an inventory: a plugin that joins meanwhile
// receives a stopped pod as stopped, and does not receive an object whose Remove is out.
//
// A pod has vanished if the runtime's lists lack it for ten minutes and the runtime submitted
// no Remove. The same holds for a container that all plugins have approved. For plugins it has
// ended, and the engine keeps nothing of it (vanished.go). So nothing is kept forever, even if a
// runtime does not submit all ends.
//
// # Missed ends
//
// With [Options].MissedEvents the lane of a plugin stays when the plugin disconnects: with its
// ledger, and without a session. A record (package catchup) stores the ends that the plugin
// misses, also over a restart of the runtime ([Engine.Recall]). In the next session they are at
// the head of the line, as parts like any other: the ledger decides what must still be sent (L18).
//
// Without the option the lane is removed with its session.
//
// # Handing over
//
// With [Options].HandOver a connection is the successor of a connected one of its name (L19). It
// is synchronized while the line is paused, and is the lane's session from then on
// (succession.go). Callers in the line do not notice.
//
// # The contract
//
//   - L1 Order. Lanes are first in, first out, and the ledger puts the Stop of a
//     container before that of its pod, and a Stop before a Remove.
//   - L2 No pod is missed. A creation is sealed in an instant in which no inventory is handed
//     out, and connections that could not be asked in time receive it late.
//   - L3 Every end is delivered. The ledger records an object before its first event is sent,
//     whatever the outcome, and drops it only at its Remove.
//   - L4 One request at a time, and no wait for requests of others: a request keeps the turn
//     of its lane until it is answered.
//   - L8, L9 A teardown is in all lanes before its caller waits. It has a context of its own, and
//     one timeout for all lanes together. Late ends go on in their lane. If a connection closes,
//     the ends that it has not received are reported as lost.
//   - L10 A second teardown of the same object waits for the first.
//   - L11 The ledger sends nothing twice. The end of a pod ends the creations
//     in it before it is in any lane.
//   - L13 A join holds only the turn of its own lane, for no longer than its timeout. A
//     creation waits one such timeout in all for connections that join, and a teardown
//     does not wait for them.
//   - L14 An event that a plugin did not subscribe to changes its ledger, and does not wait
//     for its turn.
//   - L15 The engine keeps nothing that a restart would lose: the runtime lists the objects that
//     exist, and Options.MissedEvents keeps the missed ends.
//   - L16 A timeout is an error for the plugin's failure policy, which is one function
//     ([Policy.Decide]) for the request that timed out and for all that wait behind it. If the
//     caller of a creation ends it earlier, which leaves time for the roll-back, that is
//     not a timeout of the plugin.
//   - L17 An [Observer] receives all of it, and [Engine.Status] returns the present state.
//   - L18 A disconnected plugin has a lane, too: the ends that it misses are stored, and safe
//     before Teardown returns.
//   - L19 A lane has one session at a time.
//   - L20 A creation is sealed only if all its demands are met in that instant. An Unmet error
//     names the plugin.
//   - L22 An overdue connection costs others one timeout. So does a plugin that fails its
//     Synchronize and comes back, however often. A plugin that hangs in an event and comes back
//     costs one timeout each time, and no creation more than one. All plugins that register while a
//     creation is under way cost it two timeouts together, whatever their names. If it demands
//     the answer of two of them and neither answers, it fails. Lines are bounded in events,
//     bytes and time, and the connection of a peer that does not read is closed.
//
// # Time
//
// The clock is package time. Tests run in bubbles of testing/synctest, where
// time is virtual, so the engine needs no clock of its own.
package lifecycle
