// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// EngineConnections brings the connections of the engine, which nothing uses yet.
var EngineConnections = edit.Patch{
	Slug:    "engine-connections",
	Module:  "nri",
	Subject: "lifecycle: bring in plugins side by side, each in a bound of its own",
	Body: `Plugins register one at a time. One that takes its time for Synchronize holds up
all that come after it, and nothing is told to anyone meanwhile.

Begin an engine between a runtime and its plugins with those who are there. A
connection that joins is given what the runtime lists, for which it has a
timeout, and others join beside it. One that closes is noticed, whoever closed
it, and an observer is told of each that came and of why it left. What is told to
connections comes with the patches that follow.

The engine knows nothing of ttrpc and of runtimes. Nothing uses it yet.`,
	Refs:     []string{"containerd/nri#63", "containerd/nri#165", "containerd/nri#286"},
	Rules:    []string{"L13"},
	Status:   edit.Upstream,
	Until:    "NRI brings in plugins side by side",
	Needs:    []string{"nri/engine-ledger"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of the adaptation, which travel, drive it",
	Packages: []edit.Package{engineAt("engine-connections")},
	Edits:    cutsAt("engine-connections"),
}
