// SPDX-License-Identifier: Apache-2.0

package nrimissedevents

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// MissedEvents tells plugins that come back what ended while they were disconnected.
var MissedEvents = edit.Patch{
	Slug:    "missed-events",
	Module:  "nri",
	Subject: "adaptation: tell plugins what ended while they were disconnected",
	Body: `A plugin that is restarted, that crashes or that is disconnected after a timeout
does not hear of the pods and containers that end before it is back. What it
holds for them it holds for good, unless it compares all that it has with what
Synchronize tells it. If the runtime is restarted in between, the same holds for
every plugin.

Let runtimes hand in a store (WithMissedEvents). The adaptation keeps in it which
names of plugins there are, what those know that are disconnected, and the ends that they
have not heard, and has it made safe before the runtime goes on to forget an
object. When a plugin of the name has answered Synchronize, it is told what the
name is owed, a Stop before its Remove and containers before their pod. An
answer settles it, and a timeout does not: so an end is told at least once over
connections, and once to each. What a plugin asks for in such a reply is applied
to what is still there.

At its start the adaptation compares what names knew with what the runtime lists,
before a plugin is let in, and owes the ends of what is gone. With nobody away it
asks nothing of the store.

Of a request that is kept no more is in it than a plugin needs to free what it
holds: ids and names, the paths of namespaces and cgroups, and 8 KiB of labels and
annotations. A container's environment and arguments are not among that.

Where and how things are kept is the runtime's matter: the adaptation knows an
interface. Let runtimes list the names that are disconnected, and forget those that are
not coming back.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#167", "containerd/nri#281"},
	Rules:  []string{"L18"},
	Status: edit.Upstream,
	Until:  "NRI tells plugins that reconnect the ends that they have missed",
	Needs:  []string{"nri/required-plugins", "nri/delivery-metrics"},
	Edits: []edit.Edit{
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

missed MissedEvents        // nil: missed events are dropped
exited func() []*Container // what has exited and is not in the runtime's list; nil: none`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).After(edit.Key("OmitCreating"), `MissedEvents:   r.missed,
Encode:         encodeEnd,
Decode:         decodeEnd,`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).Replace(edit.Key("List"), "List:           r.listAll,"),
		edit.In(nri.Adaptation, edit.Method("Adaptation", "Start")).Before(edit.Stmt(edit.Call("r.startPlugins")), `r.recall()
`),
		edit.In("pkg/adaptation/plugins.go", edit.Method("observer", "Delivered")).Replace(edit.Stmt(edit.If("d.Late")), `switch {
case d.Missed:
	o.r.deliveredMissed(d)
case d.Late:
	log.Warnf(noCtx, "plugin %q: %s came late, %s after it was due: %s", d.Conn.Name(), d.Event, d.Waited+d.Took, d.Outcome)
case d.Err != nil:
	log.Warnf(noCtx, "plugin %q: %s: %s: %v", d.Conn.Name(), d.Event, d.Outcome, d.Err)
}`),
		edit.InSection("README.md", nri.FailureSection, "costs the node one request").After(`
A plugin that is disconnected hears nothing: it was restarted, timed out or lost its
connection. A runtime can hand the adaptation a store (` + "`WithMissedEvents`" + `). A plugin that
comes back under the same index and name is then told, after its Synchronize, the stop
and removal of each pod and container that it knew and that ended meanwhile, also over
restarts of the runtime. An answer settles such an end, also one with an error. What was not
answered is told again in the next connection, so that handlers of ends must be
idempotent. The pod of such an event is gone. Of what it had the event has ids, names,
namespaces, cgroups, and labels and annotations of up to 8 KiB, and it may have the ids alone.
How long a name is kept, and how much for it, is up to the runtime.`),
		edit.InSection("README.md", "Runtime Adaptation", "many pods at the same time").After(`
A runtime that keeps ends for plugins that are disconnected lists them with ` + "`DisconnectedPlugins`" + `, and
drops one that is not coming back with ` + "`ForgetPlugin`" + `. Metrics that implement
` + "`MissedEventsMetrics`" + ` are told what became of each of these ends.`),
	},
}
