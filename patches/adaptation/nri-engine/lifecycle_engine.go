// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// LifecycleEngine delivers the events of pods and containers, to each plugin in its own turn.
var LifecycleEngine = edit.Patch{
	Slug:    "lifecycle-engine",
	Module:  "nri",
	Subject: "lifecycle: deliver events to each plugin in its own turn",
	Body: `A request waits for hanging plugins one after the other, and every pod of the node
waits with it: one lock is held over all plugins while each of them is asked.
Plugins register one at a time. A plugin that joins while a pod is being created
may be asked neither for it nor find it in its Synchronize. What a plugin misses
while it is disconnected it never hears of.

Give each plugin a lane with a ledger: one request at a time, in order, and a
line of those that come next. A request keeps the turn until the plugin has
answered or its connection is closed. No goroutine waits for an idle plugin, and
no lock is held while one is asked. On this stand:

  - Ask: what a plugin may reject or adjust is asked of one after the
    other. A creation is sealed in an instant in which no connection is
    left to ask.
  - Teardown: an end is in all lanes before anyone waits, and is waited
    for once, for all together. It goes exactly to those who know the
    object.
  - Join: one list for all who came in before it began, less what has
    ended. What comes meanwhile waits in the lane of that plugin alone.
  - Overdue: a plugin that is kept after a timeout is sent nothing, and
    nobody waits for it until it answers. Lines are bounded.
  - Required: a creation waits for the plugins that it requires, and
    fails without their answers.
  - Missed ends: what ends while a plugin is disconnected is delivered
    when it is back.
  - Hand-over: a second connection of a name takes the place of the
    first in one instant.

The last three do nothing unless an option says so. The engine knows nothing of
ttrpc and of runtimes. Nothing uses it yet.`,
	Refs: []string{"containerd/nri#45", "containerd/nri#63", "containerd/nri#142", "containerd/nri#152", "containerd/nri#165", "containerd/nri#167",
		"containerd/nri#281", "containerd/nri#286", "containerd/nri#287", "containerd/nri#304", "containerd/nri#316", "containerd/containerd#14083"},
	Rules:    []string{"L1", "L2", "L3", "L4", "L8", "L9", "L10", "L11", "L13", "L14", "L16", "L17", "L18", "L19", "L20", "L22"},
	Status:   edit.Upstream,
	Until:    "NRI delivers events per plugin and keeps what each plugin knows",
	Needs:    []string{"nri/engine-ledger", "nri/engine-catchup"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of the adaptation, which travel, drive it",
	Large:    "the turn, the request that keeps it, and what waits for it are one state under one lock: each alone would say nothing of the others' rules",
	Packages: []edit.Package{{
		From: engine,
		To:   "internal/lifecycle",
		// The tests need Go 1.25 and modules that NRI does not require.
		Except: []string{"*_test.go", "testdata"},
	}},
}
