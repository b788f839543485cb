// SPDX-License-Identifier: Apache-2.0

package nrimissedevents

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// CreationJournal tells plugins the end of what a runtime was killed in creating.
var CreationJournal = edit.Patch{
	Slug:    "creation-journal",
	Module:  "nri",
	Subject: "adaptation: tell the end of what a runtime was killed in creating",
	Body: `A plugin is asked of a container before the runtime has a record of it. If the
runtime is killed there, the container is nowhere when it is back, and nobody
tells the plugin that it has gone. The same goes for a pod that a plugin was told
of in Synchronize while nothing of it was written yet.

Let runtimes hand in a journal (WithCreationJournal). The adaptation notes in it
which plugin is about to be told of what, and after a restart owes the ends of
what was noted and has no record to those plugins, and to no others. What is
created without a plugin that wants to be asked is not noted.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L18"},
	Status: edit.Upstream,
	Until:  "NRI tells plugins the end of containers that a runtime was killed in creating",
	Needs:  []string{"nri/missed-events"},
	Edits: []edit.Edit{
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

journal CreationJournal // nil: what a kill cut in its creation ends undelivered`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).After(edit.Key("MissedEvents"), `Cut:            r.cut,`),
		edit.In("pkg/adaptation/connection.go", edit.Method("connection", "Deliver")).Before(edit.Stmt(edit.Call("answer")), `c.r.noteAsked(c.plugin, ev)
`),
		edit.In("pkg/adaptation/synchronization.go", edit.Method("Adaptation", "join")).Before(edit.Stmt(edit.Define("pods", "ctrs")), `r.noteListed(p, snapshot)
`),
	},
}
