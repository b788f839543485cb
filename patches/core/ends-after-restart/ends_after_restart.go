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
	Body: `A restart makes containerd forget which pods its NRI plugins know: they get
neither StopPodSandbox nor RemovePodSandbox of pods from before it. Which pods
and containers have been begun is kept in memory. For containers it is
restored when a plugin synchronizes, for pods it is not.

Restore it for pods, too. A pod of which nothing is known is one that plugins
are told of here for the first time, so its end is theirs.

A pod that had stopped before the restart is told to have stopped once more,
with its removal: what state it is in, NRI does not know.`,
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
