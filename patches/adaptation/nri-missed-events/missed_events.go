// SPDX-License-Identifier: Apache-2.0

package nrimissedevents

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// MissedEvents delivers to plugins that reconnect the ends that they missed.
var MissedEvents = edit.Patch{
	Slug:    "missed-events",
	Module:  "nri",
	Subject: "adaptation: deliver events that plugins miss while disconnected",
	Body: `A plugin that restarts, crashes or is disconnected after a timeout does not
receive the ends of pods and containers that end before it is back. It never
frees the resources that it holds for them, unless it compares all of them with
the list in Synchronize. If the runtime restarts in between, this holds for
every plugin.

Let runtimes pass a store (WithMissedEvents). The adaptation keeps in it the
names of the plugins, the objects that each disconnected plugin knows, and the
ends that it missed. It has the store synced before the runtime goes on to
forget an object. A plugin receives the missed events of its name once it has
answered Synchronize, a Stop before its Remove and containers before their pod.
An answer settles a missed event, a timeout does not. So an end is delivered at
least once over all connections of a plugin, and once in each. Updates that a
plugin asks for in such a reply are applied to containers that still exist.

At its start, before any plugin connects, the adaptation compares the objects
that plugins knew with the runtime's list. The ends of objects that no longer
exist become missed events. While all plugins are connected, the adaptation does
not use the store.

A kept request has no more than a plugin needs to free its resources: ids and
names, the paths of namespaces and cgroups, and 8 KiB of labels and annotations.
It does not have a container's environment and arguments.

The runtime decides where and how the store keeps its data: the adaptation knows
an interface. Let runtimes list the disconnected names, and forget those that
will not reconnect.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#167", "containerd/nri#281"},
	Rules:  []string{"L18"},
	Status: edit.Upstream,
	Until:  "NRI delivers to plugins that reconnect the ends that they missed",
	Needs:  []string{"nri/required-plugins", "nri/delivery-metrics"},
	Edits: []edit.Edit{
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

missed MissedEvents        // nil: missed events are dropped
exited func() []*Container // that are not in the runtime's list; nil: none`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).After(edit.Key("OmitCreating"), `MissedEvents:   r.missed,
Encode:         encodeEnd,
Decode:         decodeEnd,`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).Replace(edit.Key("List"), "List:           r.listAll,"),
		edit.In(nri.Adaptation, edit.Method("Adaptation", "Start")).Before(edit.Stmt(edit.Call("r.startPlugins")), `r.recall()
`),
		edit.In("pkg/adaptation/plugins.go", edit.Method("observer", "Delivered")).Replace(edit.Stmt(edit.If("late")), `switch {
case d.Missed:
	o.r.deliveredMissed(d)
case late:
	log.Warnf(noCtx, "plugin %q: %s came late, %s after it was due: %s", d.Conn.Name(), d.Event, d.Waited+d.Took, d.Outcome)
case d.Err != nil:
	log.Warnf(noCtx, "plugin %q: %s: %s: %v", d.Conn.Name(), d.Event, d.Outcome, d.Err)
}`),
		edit.InSection("README.md", nri.FailureSection, "An overdue plugin costs the node").After(`
A plugin that has restarted, timed out or lost its connection misses events until it
reconnects. A runtime can pass a store to the adaptation (` + "`WithMissedEvents`" + `). A plugin that
reconnects under the same index and name then receives, after its Synchronize, the stop and
removal of each pod and container that it knew and that ended meanwhile, even if the runtime
has restarted. An answer settles such an event, also an error. Events that the plugin does not
answer are delivered again in its next connection, so handlers of ends must be idempotent. The
pod of such an event no longer exists. The event has its ids, names, namespaces, cgroups, and
labels and annotations of up to 8 KiB. It may have the ids alone. The runtime decides how long
it keeps a name, and how many events for it.`),
		edit.InSection("README.md", "Runtime Adaptation", "many pods at the same time").After(`
A runtime that keeps missed events lists the disconnected plugins with ` + "`DisconnectedPlugins`" + `,
and drops one that will not reconnect with ` + "`ForgetPlugin`" + `. Metrics that implement
` + "`MissedEventsMetrics`" + ` receive the outcome of each of these events.`),
	},
}
