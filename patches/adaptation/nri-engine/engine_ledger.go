// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// EngineLedger brings what the engine keeps of what a plugin knows.
var EngineLedger = edit.Patch{
	Slug:    "engine-ledger",
	Module:  "nri",
	Subject: "ledger: keep what a plugin was told of pods and containers",
	Body: `What a plugin was told of is kept nowhere. So it is told of the end of what it
never saw, and not told of the end of what it did; a stop may come twice, and a
container may end after its pod.

Add a ledger of what one connection knows of each pod and container. It says
what may be sent, what was sent before, and what has to be sent first: a Stop
before a Remove, and containers before their pod. Nothing is sent twice, and
nothing begins after its end.

It is a package of its own, without locks and without a clock. It is the first part
of an engine that delivers events per plugin, which a later patch adds.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L1", "L3", "L11"},
	Status: edit.Upstream,
	Until:  "NRI keeps what each plugin knows",
	Large:  "a third of it are the names of the kinds of events",
	Packages: []edit.Package{{
		From:   ledger,
		To:     "internal/lifecycle/ledger",
		Except: []string{ledgerDisconnected},
	}},
}
