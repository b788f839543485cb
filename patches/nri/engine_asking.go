// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// EngineAsking asks plugins of what each of them may refuse.
var EngineAsking = edit.Patch{
	Slug:    "engine-asking",
	Module:  "nri",
	Subject: "lifecycle: ask plugins in turn of what they may refuse",
	Body: `The engine tells of ends alone. What a plugin may refuse or adjust has to be asked
of one after the other, and the first refusal fails it.

Let a caller wait for the turn in each lane, with its own context, and leave the
line when that ends. What it was sent for is still the plugin's to answer: it is
sent nothing else before. A plugin that is not there, or that is still to be
synchronized after one timeout in all, is passed over; what a failed or overdue
plugin means for the request its policy says, in one place. Events that a plugin
did not subscribe to go through its ledger and not through its turn.`,
	Refs:     []string{"containerd/nri#63", "containerd/nri#286", "containerd/nri#304"},
	Rules:    []string{"L4", "L13", "L14", "L16"},
	Status:   edit.Upstream,
	Until:    "NRI delivers events per plugin and keeps what each plugin knows",
	Needs:    []string{"nri/engine-inventories"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of the adaptation, which travel, drive it",
	Packages: []edit.Package{engineAt("engine-asking")},
	Edits:    cutsAt("engine-asking"),
}
