// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// EngineBounds bounds what one plugin costs.
var EngineBounds = edit.Patch{
	Slug:    "engine-bounds",
	Module:  "nri",
	Subject: "lifecycle: wait once for a plugin that hangs, and bound its line",
	Body: `A plugin that is kept after a timeout is waited for again by each teardown, and
what waits for it is without bounds.

Take a connection that owes an answer for what it is: overdue. It is sent nothing
and nobody waits for it, so that it costs the node one timeout and not one for
each pod. What it has to be told waits in its line. Drop it where it is overdue
for too long, or where its line has too many events or too many bytes.`,
	Refs:     []string{"containerd/nri#63", "containerd/nri#286", "containerd/nri#287"},
	Rules:    []string{"L4", "L22"},
	Status:   edit.Upstream,
	Until:    "a plugin that hangs costs NRI one timeout",
	Needs:    []string{"nri/lifecycle-engine"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of the adaptation, which travel, drive it",
	Packages: []edit.Package{engineAt("engine-bounds")},
	Edits:    cutsAt("engine-bounds"),
}
