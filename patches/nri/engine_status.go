// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// EngineStatus says what the engine is doing.
var EngineStatus = edit.Patch{
	Slug:    "engine-status",
	Module:  "nri",
	Subject: "lifecycle: say what the engine is doing",
	Body: `From outside one cannot tell which plugin a pod waits for, nor what that plugin is
busy with.

Say of each connection whether it is synchronized, how much waits for it, what it
has not answered and since when, and why its last delivery failed; and of each
creation whom it waits for.`,
	Refs:     []string{"containerd/nri#286", "containerd/nri#304"},
	Rules:    []string{"L17"},
	Status:   edit.Upstream,
	Until:    "NRI says what its plugins are doing",
	Needs:    []string{"nri/engine-creations"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of the adaptation, which travel, drive it",
	Packages: []edit.Package{engineAt("engine-status")},
	Edits:    cutsAt("engine-status"),
}
