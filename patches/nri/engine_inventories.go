// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// EngineInventories lists once for all plugins that join.
var EngineInventories = edit.Patch{
	Slug:    "engine-inventories",
	Module:  "nri",
	Subject: "lifecycle: list once for all who join, less what has ended",
	Body: `Each connection that joins has the runtime list everything. While it does, what
ends may be in that list: the plugin is told of a pod as if it ran, or of one
whose removal is past and will not come again.

Take one list for all who came in before it began, and one at a time. Hold against
it what ended meanwhile: a pod that is stopped is told as such, and what is removed
is left out. Neither a join nor the engine waits without end for a runtime
that does not list.`,
	Refs:     []string{"containerd/nri#165", "containerd/nri#286"},
	Rules:    []string{"L2", "L11", "L13"},
	Status:   edit.Upstream,
	Until:    "NRI delivers events per plugin and keeps what each plugin knows",
	Needs:    []string{"nri/engine-bounds"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of the adaptation, which travel, drive it",
	Packages: []edit.Package{engineAt("engine-inventories")},
	Edits:    cutsAt("engine-inventories"),
}
