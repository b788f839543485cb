// SPDX-License-Identifier: Apache-2.0

package endsafterrestart

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// EndsAfterRestart sends plugins the end of pods from before a restart.
var EndsAfterRestart = edit.Patch{
	Slug:    "ends-after-restart",
	Module:  "containerd",
	Subject: "nri: send the end of pods from before a restart",
	Body: `After a restart of containerd, NRI plugins receive neither StopPodSandbox nor
RemovePodSandbox of pods that existed before it. The states of pods and
containers for NRI are only in memory. When a plugin synchronizes, containerd
restores them for containers, but not for pods.

Restore them for pods, too. If the state of a pod is unknown, plugins receive
the pod here for the first time, so they must receive its end.

If a pod was stopped before the restart, plugins receive its stop once more,
with its removal: NRI does not know the state of a pod.`,
	Refs:   []string{"containerd/containerd#8426"},
	Rules:  []string{"L15"},
	Status: edit.Upstream,
	Until:  "containerd sends NRI plugins the stop and removal of pods from before a restart",
	Edits: []edit.Edit{
		containerd.Local("syncPlugin").Before(edit.Stmt(edit.Range("containers")), `for _, pod := range pods {
	if l.getState(pod.GetId()) == Removed {
		l.setState(pod.GetId(), Running)
	}
}

`),
	},
}
