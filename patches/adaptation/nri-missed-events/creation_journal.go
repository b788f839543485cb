// SPDX-License-Identifier: Apache-2.0

package nrimissedevents

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// CreationJournal delivers the ends of pods and containers that a runtime was killed in creating.
var CreationJournal = edit.Patch{
	Slug:    "creation-journal",
	Module:  "nri",
	Subject: "adaptation: deliver ends of creations that a kill interrupted",
	Body: `If a runtime is killed while it creates a container, the plugins that were asked
for the container may never receive its end: they receive CreateContainer before
the runtime has a record of the container. The same goes for a pod that a plugin
received in Synchronize before the runtime had written a record of it.

Let runtimes pass a journal (WithCreationJournal). The adaptation notes in it
which plugin is about to receive which object. After a restart, plugins receive
the ends of the noted objects that have no record, and no other plugins do. An
object for which no plugin is asked is not noted.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L18"},
	Status: edit.Upstream,
	Until:  "NRI delivers the ends of containers that a runtime was killed in creating",
	Needs:  []string{"nri/missed-events"},
	Edits: []edit.Edit{
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

journal CreationJournal // nil: ends of creations that a kill interrupted are not delivered`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).After(edit.Key("MissedEvents"), `Cut:            r.cut,`),
		edit.In("pkg/adaptation/connection.go", edit.Method("connection", "Deliver")).Before(edit.Stmt(edit.Call("answer")), `c.r.noteAsked(c.plugin, ev)
`),
		edit.In("pkg/adaptation/synchronization.go", edit.Method("Adaptation", "join")).Before(edit.Stmt(edit.Define("pods", "ctrs")), `r.noteListed(p, snapshot)
`),
	},
}
