// SPDX-License-Identifier: Apache-2.0

package missedevents

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// CreationJournal tells plugins the end of what containerd was killed in creating.
var CreationJournal = edit.Patch{
	Slug:    "creation-journal",
	Module:  "containerd",
	Subject: "cri,nri: tell the end of what containerd was killed in creating",
	Body: `NRI plugins are asked of a container before containerd has a record of it. If
containerd is killed there, nothing of the container is found when it is back,
and the plugins that were asked keep what they hold for it. The same goes for a
pod that waits for a required plugin: who registers meanwhile is told of it.

Note in the state folder which plugins are told of what is being created, until
there is a record or the creation has failed, and hand that to NRI's adaptation
at the next start. Nothing is noted where no plugin is told. The state folder
does not outlive a boot of the node, and neither do containers.

Only CRI comes here. Plugins may get the removal of a container that was in no
list. A released containerd leaves the files alone, and a boot removes them.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L18"},
	Status: edit.Upstream,
	Until:  "containerd tells NRI plugins the end of containers that it was killed in creating",
	Needs:  []string{"nri/creation-journal", "containerd/missed-events", "containerd/pods-being-created"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`

// creationsDir is where it is kept what is being created, empty for nowhere.
creationsDir string`),
		edit.In(containerd.LocalNRI, edit.Type("API")).AddField(`
// BeginCreation says that a pod or container is being created of which there is no record
// yet: container is empty for a pod. The function that it returns ends that.
BeginCreation(pod, container string) (end func())`),
		edit.In(containerd.LocalNRI, edit.Type("local")).AddField("\n\ncreations *creationJournal // nil if no ends are kept"),
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
