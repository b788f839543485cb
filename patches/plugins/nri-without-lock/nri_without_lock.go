// SPDX-License-Identifier: Apache-2.0

package nriwithoutlock

import (
	"slices"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NRIWithoutLock leaves the order and state of events to the adaptation.
var NRIWithoutLock = edit.Patch{
	Slug:    "nri-without-lock",
	Module:  "containerd",
	Subject: "nri: leave the order and state of events to the adaptation",
	Body: `One lock is held around every call of every plugin, for all pods. It
guards the state of pods and containers, which is kept once for all
plugins. So a plugin that registered later, or was not reached, misses
stops and removals, and pods that stopped before a restart are reported
as stopped again.

The adaptation has a ledger for each plugin, filled by its Synchronize.
It skips stops and removals that the plugin has received, and those of
pods and containers that the plugin does not know. Drop the state and
the lock. The updates that plugins request when a container stops are
applied even if another plugin failed.

The lock had two more effects on plugins. It serialized the requests of
all pods: a plugin still receives one request at a time, for pods in any
order. It also ordered the updates of other containers that a plugin
requests: they are still applied in the order of the requests, and
before a creation or an update returns. Updates that a plugin requests
in StopContainer may be applied after the stop.`,
	Refs:   []string{"containerd/containerd#14083", "containerd/containerd#8426", "containerd/nri#165", "containerd/containerd#10085"},
	Rules:  []string{"L3", "L14", "L15"},
	Status: edit.Upstream,
	Until:  "containerd keeps no NRI state of pods and containers for all plugins together, and holds no lock while plugins are called",
	Needs:  []string{"nri/sync-block", "containerd/patched-nri", "containerd/ends-after-restart"},
	Edits: slices.Concat(
		unlock("Stop", "RunPodSandbox", "UpdatePodSandbox", "PostUpdatePodSandbox", "StopPodSandbox", "RemovePodSandbox",
			"CreateContainer", "PostCreateContainer", "StartContainer", "PostStartContainer", "UpdateContainer", "PostUpdateContainer",
			"StopContainer", "NotifyContainerExit", "RemoveContainer", "syncPlugin", "updateFromPlugin"),
		stateless("RunPodSandbox", "StopPodSandbox", "RemovePodSandbox", "CreateContainer", "StartContainer", "RemoveContainer"),
		[]edit.Edit{
			containerd.Local("StopPodSandbox").Delete(edit.Stmt(edit.If("!l.needsStopping(pod.GetID())"))),
			containerd.Local("RemovePodSandbox").Delete(edit.Stmt(edit.If("!l.needsRemoval(pod.GetID())"))),
			containerd.Local("RemoveContainer").Delete(edit.Stmt(edit.If("!l.needsRemoval(ctr.GetID())"))),
			containerd.Local("syncPlugin").Delete(edit.Stmt(edit.Range("pods"))),
			containerd.Local("syncPlugin").Delete(edit.Stmt(edit.Range("containers"))),
			containerd.Local("Stop").Delete(edit.Stmt(edit.Assign("l.nri"))),
			containerd.Local("stopContainer").Drop(),
			containerd.Local("setState").Drop(),
			containerd.Local("getState").Drop(),
			containerd.Local("needsStopping").Drop(),
			containerd.Local("needsRemoval").Drop(),
			edit.In(containerd.LocalNRI, edit.Type("State")).Drop(),
			edit.In(containerd.LocalNRI, edit.Const("Removed")).Drop(),
			edit.In(containerd.LocalNRI, edit.Const("Stopped")).Drop(),
			edit.In(containerd.LocalNRI, edit.Const("Running")).Drop(),
			edit.In(containerd.LocalNRI, edit.Const("Created")).Drop(),
			edit.In(containerd.LocalNRI, edit.Type("local")).Delete(edit.Field("Mutex")),
			edit.In(containerd.LocalNRI, edit.Type("local")).Delete(edit.Field("state")),
			edit.In(containerd.LocalNRI, edit.Func("New")).Delete(edit.Stmt(edit.Assign("l.state"))),
			edit.DropImport(containerd.LocalNRI, "sync"),
			edit.In(containerd.LocalNRI, edit.Type("API")).Comment(edit.Field("BlockPluginSync"), `// BlockPluginSync marks an operation on a pod or container, up to Unblock. It does not
// delay registrations: a plugin may join at any time, and misses nothing.`),
			edit.In(containerd.LocalNRI, edit.Type("API")).Comment(edit.Field("StopPodSandbox"), `// StopPodSandbox sends the stop of a pod to the plugins that know the pod and have not
// received its stop. The error names the plugins that failed.`),
			edit.In(containerd.LocalNRI, edit.Type("API")).Comment(edit.Field("RemovePodSandbox"), `// RemovePodSandbox does the same for the removal of a pod.`),
			edit.In(containerd.LocalNRI, edit.Type("API")).Comment(edit.Field("StopContainer"), `// StopContainer sends the stop of a container to the plugins that know the container and
// have not received its stop. The updates that they request are applied in any case.`),
			edit.In(containerd.LocalNRI, edit.Type("API")).Comment(edit.Field("RemoveContainer"), `// RemoveContainer does the same for the removal of a container.`),
		},
	),
}

// unlock drops the lock of methods.
func unlock(methods ...string) []edit.Edit {
	var edits []edit.Edit
	for _, m := range methods {
		edits = append(edits, containerd.Local(m).Delete(edit.Stmt(edit.Call("l.Lock")).And(1)))
	}
	return edits
}

// stateless drops the state that methods set.
func stateless(methods ...string) []edit.Edit {
	var edits []edit.Edit
	for _, m := range methods {
		edits = append(edits, containerd.Local(m).Delete(edit.Stmt(edit.Call("l.setState"))))
	}
	return edits
}
