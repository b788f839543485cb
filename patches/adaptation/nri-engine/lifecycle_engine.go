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
waits with it: NRI holds one lock over all plugins while it calls each of them.
Plugins register one at a time. A plugin that joins while a pod is being created
may receive it neither in RunPodSandbox nor in Synchronize. A plugin never
receives the events that it misses while it is disconnected.

Give each plugin a lane with a ledger. A lane is a queue: one request at a time,
in order. A request stays at its head until the plugin has answered or its
connection is closed. No goroutine waits for an idle plugin, and no lock is held
while a plugin is called. These parts use the lanes:

  - Ask: a request that plugins may reject or adjust goes to one after
    the other. A creation is sealed at an instant when no connection is
    left to ask.
  - Teardown: an end is put into all lanes before anything waits, with
    one wait for all of them. It goes exactly to the plugins that know
    the object.
  - Join: one list serves all plugins that registered before it began,
    without the pods that have ended. Later events wait in the lane of
    that plugin alone.
  - Overdue: a plugin that stays connected after a timeout receives
    nothing, and no request waits for it, until it answers. Queues are
    bounded.
  - Required: a creation waits for the plugins that it requires, and
    fails without their answers.
  - Missed ends: an end that a plugin misses while it is disconnected is
    delivered when it is back.
  - Hand-over: a second connection of a name takes the place of the
    first in one instant.

The last three do nothing unless an option enables them. The engine knows
nothing of ttrpc and of runtimes. Nothing uses it yet.`,
	Refs: []string{"containerd/nri#45", "containerd/nri#63", "containerd/nri#142", "containerd/nri#152", "containerd/nri#165", "containerd/nri#167",
		"containerd/nri#281", "containerd/nri#286", "containerd/nri#287", "containerd/nri#304", "containerd/nri#316", "containerd/containerd#14083"},
	Rules:    []string{"L1", "L2", "L3", "L4", "L8", "L9", "L10", "L11", "L13", "L14", "L16", "L17", "L18", "L19", "L20", "L22", "L28"},
	Status:   edit.Upstream,
	Until:    "NRI delivers events per plugin, and records which pods and containers each plugin knows",
	Needs:    []string{"nri/engine-ledger", "nri/engine-catchup"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; the tests of the adaptation, which go upstream, cover it",
	Large:    "the turn of a plugin, its current request and its queue are one state under one lock: each alone would not show the rules of the others",
	Packages: []edit.Package{{
		From: engine,
		To:   "internal/lifecycle",
		// The tests need Go 1.25 and modules that NRI does not require.
		Except: []string{"*_test.go", "testdata"},
	}},
}
