// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// EngineCatchup brings what the engine keeps of what a plugin misses while it is disconnected.
var EngineCatchup = edit.Patch{
	Slug:    "engine-catchup",
	Module:  "nri",
	Subject: "catchup: keep what a plugin misses while it is disconnected",
	Body: `A plugin that is restarted does not hear of what ends before it is back, and after
a restart of the runtime none does.

Add a record of what the plugin of one name misses: what it knew when it left, the
ends that have come since and, after a restart of the runtime, the ends of what is
gone. It works on the ledger of the name. Where it is stored is an interface for
the runtime.

Nothing uses it yet.`,
	Refs:     []string{"containerd/nri#286"},
	Rules:    []string{"L18"},
	Status:   edit.Upstream,
	Until:    "NRI keeps what each plugin knows",
	Needs:    []string{"nri/engine-ledger"},
	Untested: "its tests need a store, which the runtime brings; those of the adaptation, which travel, drive it",
	Packages: []edit.Package{
		{From: ledger, To: "internal/lifecycle/ledger", Only: []string{ledgerDisconnected}},
		{From: engine + "/catchup", To: "internal/lifecycle/catchup", Except: []string{"*_test.go"}},
	},
}
