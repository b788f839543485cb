// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// LifecycleEngine brings the engine, which nothing uses yet.
var LifecycleEngine = edit.Patch{
	Slug:    "lifecycle-engine",
	Module:  "nri",
	Subject: "lifecycle: add an engine that delivers events per plugin",
	Body: `One lock over all plugins makes every pod wait for the slowest plugin of
every other pod, and makes a registration and a pod operation wait for each
other.

Add an engine that delivers events with a lane and a ledger per connection:
one request at a time and in order for each plugin, teardown to all at once
and with one bounded wait, a join that holds up nobody, and each end told
exactly to those who know the object. It knows nothing of ttrpc and of
runtimes. Nothing uses it yet.`,
	Refs:     []string{"containerd/nri#63", "containerd/nri#165", "containerd/nri#286", "containerd/nri#287"},
	Rules:    []string{"L1", "L2", "L3", "L4", "L9", "L10", "L13", "L14"},
	Status:   edit.Upstream,
	Until:    "NRI delivers events per plugin and keeps what each plugin knows",
	Needs:    []string{"nri/engine-ledger"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of the adaptation, which travel, drive it",
	Large:    "one state machine in a new package, which nothing uses yet: parts of it would not keep the rules that make it reviewable",
	Packages: []edit.Package{engineAgain(handOver, owedEnds, requiredPlugins)},
	Edits:    cutOut(handOver, owedEnds, requiredPlugins),
}
