// SPDX-License-Identifier: Apache-2.0

package missedevents

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// CreationJournal delivers the end of creations that a kill of containerd interrupted.
var CreationJournal = edit.Patch{
	Slug:    "creation-journal",
	Module:  "containerd",
	Subject: "cri,nri: deliver the end of creations that a kill interrupted",
	Body: `If containerd is killed while it creates a container, NRI plugins never
receive the end of the container. Plugins receive CreateContainer before
containerd has a record of the container. After the restart containerd
finds nothing of it, and the plugins keep what they hold for it. The
same happens to a pod that waits for a required plugin: a plugin that
registers meanwhile receives the pod in Synchronize.

Note in the state folder which plugins received a pod or container that
is being created, until it has a record or its creation has failed. Hand
the notes to NRI's adaptation at the next start. Where no plugin
receives anything, nothing is noted. The state folder does not outlive a
boot of the node, and neither do containers.

Only CRI uses this. Plugins may receive the removal of a container that
was in no list. A released containerd ignores the files, and a boot
removes them.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L18"},
	Status: edit.Upstream,
	Until:  "containerd sends NRI plugins the end of containers whose creation was interrupted by a kill",
	Needs:  []string{"nri/creation-journal", "containerd/missed-events", "containerd/pods-being-created"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`

// creationsDir is the folder of the creation journal. If empty, there is no journal.
creationsDir string`),
		edit.In(containerd.LocalNRI, edit.Type("API")).AddField(`
// BeginCreation marks a pod or container without a record as being created. container is
// empty for a pod. The function that it returns ends the mark.
BeginCreation(pod, container string) (end func())`),
		edit.In(containerd.LocalNRI, edit.Type("local")).AddField("\n\ncreations *creationJournal // nil if no missed events are kept"),
		edit.In(containerd.LocalNRI, edit.Func("New")).After(edit.Stmt(edit.Mentions("l.keepMissedEvents()")), "opts = append(opts, l.noteCreations()...)"),
		containerd.Local("Start").After(edit.Stmt(edit.If("err != nil")), "l.creations.forgetCut()"),
		edit.In("plugins/nri/plugin.go", edit.Func("initFunc")).Before(edit.Stmt(edit.Define("l", "err")),
			`ic.Config.(*nri.Config).CreationsIn(ic.Properties[plugins.PropertyStateDir])
`),
		containerd.Run.After(edit.Stmt(edit.All(edit.Defer(), edit.Call("creation.End"))), `defer c.nri.BeginCreation(id, "")()
`),
		containerd.CreateContainerIn.Before(edit.Stmt(edit.Mentions("c.nri.WithContainerAdjustment()")), `defer c.nri.BeginCreation(r.sandboxID, r.containerID)()
`),
	},
}
