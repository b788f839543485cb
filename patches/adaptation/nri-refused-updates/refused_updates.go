// SPDX-License-Identifier: Apache-2.0

package nrirefusedupdates

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// RefusedUpdates tells plugins what holds after an update was refused.
var RefusedUpdates = edit.Patch{
	Slug:    "refused-updates",
	Module:  "nri",
	Subject: "adaptation: tell plugins what holds after a refused update",
	Body: `Plugins are asked for an update of a pod or container one after the
other. If a later one rejects it, the earlier ones have agreed to values
that never hold, and nothing tells them. A CPU policy then counts CPUs as
taken that no container has. The same happens when the runtime fails the
update after all plugins have agreed, or when its caller cancels. A
plugin for which the runtime lists the container meanwhile may receive
either value, and one that is skipped because it hangs receives none.

Send UpdateContainer or UpdatePodSandbox once more to these plugins, with
what the pod or container has then. A limit of memory or CPU time that it
does not have is -1, as in the specification of OCI. The runtime is asked
for the values when the plugin receives them (WithLookup), and not while
another update of the object is under way: a plugin receives no older
value after a newer one. Several failures make one event.

No caller waits for these requests, and the answers are no part of the
update. Updates of other containers in them are applied like those that
a plugin asks for by itself.

A runtime with WithLookup ends each update to which plugins agreed: with
PostUpdateContainer or PostUpdatePodSandbox if it holds, and otherwise
with UndoUpdateContainer or UndoUpdatePodSandbox. Nothing changes for a
runtime without it.`,
	Refs:   []string{"kubernetes/kubernetes#137555"},
	Rules:  []string{"L26"},
	Status: edit.Upstream,
	Until:  "NRI tells plugins what holds after an update was refused",
	Needs:  []string{"nri/adaptation-engine"},
	Edits: []edit.Edit{
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

lookup Lookup // nil if plugins are not to receive what holds`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).After(edit.Key("ImpliedEnd"), "TakeBack:       r.lookup != nil,"),
		edit.In("pkg/adaptation/connection.go", edit.Method("connection", "relayWithin")).Before(edit.Stmt(edit.If("c.impl.isTtrpc()")), `ev, there := c.r.current(ev)
if !there {
	return nil, nil
}
`),
	},
}
