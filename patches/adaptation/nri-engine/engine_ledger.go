// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// EngineLedger brings the engine's record of what a plugin knows.
var EngineLedger = edit.Patch{
	Slug:    "engine-ledger",
	Module:  "nri",
	Subject: "ledger: record which events of pods and containers a plugin received",
	Body: `NRI does not record which pods and containers a plugin has received. So a plugin
receives the end of a pod that it never saw, and does not receive the end of a
pod that it knows. A stop may come twice, and a container may end after its pod.

Add a ledger of the pods and containers that one connection knows. It decides
which event may be sent, which was sent already, and which must be sent first: a
Stop before a Remove, and containers before their pod. Nothing is sent twice,
and nothing begins after its end.

It is a package of its own, without locks and without a clock. It is the first
part of an engine that delivers events per plugin. A later patch adds the
engine.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L1", "L3", "L11"},
	Status: edit.Upstream,
	Until:  "NRI records which pods and containers each plugin knows",
	Large:  "a third of it are the names of the kinds of events",
	Packages: []edit.Package{{
		From:   ledger,
		To:     "internal/lifecycle/ledger",
		Except: []string{ledgerDisconnected},
	}},
}
