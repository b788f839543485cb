// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// EngineCreations sees to it that creations miss no plugin.
var EngineCreations = edit.Patch{
	Slug:    "engine-creations",
	Module:  "nri",
	Subject: "lifecycle: miss no plugin when a pod or container is created",
	Body: `A plugin that joins while a pod is being created may be asked neither for it nor
find it in its Synchronize. One that is passed over never hears of it.

Keep the pods and containers whose first event is under way. Such a creation ends
only in an instant in which nobody is left to ask: whoever was listed for before
it was asked, whoever comes later finds it listed, by the runtime or by the
engine. Who could not be asked in time is told late, when there is a turn, unless
it has ended. A teardown ends the creations that it is for. A caller with a
deadline keeps time for the undo.

A plugin that comes back under a name that was asked is not asked again, and one
that failed to join is not waited for a second time.`,
	Refs:     []string{"containerd/nri#165", "containerd/nri#286", "containerd/containerd#14083"},
	Rules:    []string{"L2", "L3", "L11", "L13", "L22"},
	Status:   edit.Upstream,
	Until:    "NRI delivers events per plugin and keeps what each plugin knows",
	Needs:    []string{"nri/engine-asking"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of the adaptation, which travel, drive it",
	Packages: []edit.Package{engineAt("engine-creations")},
	Edits:    cutsAt("engine-creations"),
}
