// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// EngineOwedEnds brings the engine with what names are owed whose plugins are away.
var EngineOwedEnds = edit.Patch{
	Slug:    "engine-owed-ends",
	Module:  "nri",
	Subject: "lifecycle: owe ends to plugins that are away",
	Body: `The engine forgets what a connection knew once that closes. A plugin that comes
back is never told of what ended meanwhile.

Let the engine keep, for a name whose plugin is away, the closed lane of its last
connection. Ends go through its ledger as ever, and are noted in a store instead
of sent. The name's next connection takes over what the name knew, and is told of
those ends after its Synchronize, in order, before all else. After a restart such a
lane is made of what was noted, and what the runtime does not have any more is
owed, too.

Where and how that is stored is an interface. Without one nothing is kept.
Nothing uses this yet.`,
	Refs:     []string{"containerd/nri#286", "containerd/nri#167", "containerd/nri#281"},
	Rules:    []string{"L18"},
	Status:   edit.Upstream,
	Until:    "NRI tells plugins that reconnect the ends that they have missed",
	Needs:    []string{"nri/required-plugins"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of nri/owed-ends, behind it, drive it",
	Large:    "what a name is owed, and what it knows, changes hands in one instant: half of it would tell ends twice or never",
	Packages: []edit.Package{engineAt("engine-owed-ends")},
	Edits:    cutsAt("engine-owed-ends"),
}
