// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// EngineCatchup brings the engine's record of the events that a plugin misses while it is disconnected.
var EngineCatchup = edit.Patch{
	Slug:    "engine-catchup",
	Module:  "nri",
	Subject: "catchup: keep the events that a plugin misses while it is disconnected",
	Body: `A plugin that restarts never receives the end of a pod that ends before it is
back. After a restart of the runtime no plugin receives it.

Add a record of the events that the plugin of one name misses: the pods and
containers that it knew when it left, the ends that have come since and, after a
restart of the runtime, the ends of pods and containers that no longer exist. It
works on the ledger of the name. The runtime stores it, behind an interface.

Nothing uses it yet.`,
	Refs:     []string{"containerd/nri#286"},
	Rules:    []string{"L18"},
	Status:   edit.Upstream,
	Until:    "NRI records which pods and containers each plugin knows",
	Needs:    []string{"nri/engine-ledger"},
	Untested: "its tests need a store, which the runtime brings; the tests of the adaptation, which go upstream, cover it",
	Packages: []edit.Package{
		{From: ledger, To: "internal/lifecycle/ledger", Only: []string{ledgerDisconnected}},
		{From: engine + "/catchup", To: "internal/lifecycle/catchup", Except: []string{"*_test.go"}},
	},
}
