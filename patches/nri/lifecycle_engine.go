// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// LifecycleEngine delivers the ends of pods and containers, each plugin in its own turn.
var LifecycleEngine = edit.Patch{
	Slug:    "lifecycle-engine",
	Module:  "nri",
	Subject: "lifecycle: deliver ends to each plugin in its own turn",
	Body: `A stop waits for hanging plugins one after the other, and every pod of the node
waits with it: one lock is held over all plugins while each of them is asked.

Give each connection of the engine a lane with a ledger: one request at a time,
in order, and a line of those that come next. A request keeps the turn until the
plugin has answered or its connection is closed. No goroutine waits for an idle
plugin, and no lock is held while one is asked.

Tell of ends through the lanes. A teardown is in all of them before anyone waits,
and waits once, for all together. Each end goes exactly to those who know the
object, a Stop before a Remove and containers before their pod. What is not
answered by then goes on in its lane, and what a closed connection was to be told
is accounted for. A second teardown of the same object waits for the first.

A plugin knows what it was told by Synchronize. Nothing uses this yet.`,
	Refs:     []string{"containerd/nri#63", "containerd/nri#165", "containerd/nri#286", "containerd/nri#287"},
	Rules:    []string{"L1", "L3", "L4", "L8", "L9", "L10", "L11"},
	Status:   edit.Upstream,
	Until:    "NRI delivers events per plugin and keeps what each plugin knows",
	Needs:    []string{"nri/engine-connections"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of the adaptation, which travel, drive it",
	Large:    "the turn, the request that keeps it and the teardown that goes on in it are one state under one lock: each alone would say nothing of the others' rules",
	Packages: []edit.Package{engineAt("lifecycle-engine")},
	Edits:    cutsAt("lifecycle-engine"),
}
