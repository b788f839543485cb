// SPDX-License-Identifier: Apache-2.0

package missedevents

import "github.com/hookline-nri/hookline/internal/edit"

// MissedStore brings the store of what plugins are owed, which nothing uses yet.
var MissedStore = edit.Patch{
	Slug:    "missed-store",
	Module:  "containerd",
	Subject: "nri: add a store of the ends that plugins have missed",
	Body: `An NRI plugin that is disconnected while pods end has to be told when it is back, also if
containerd is restarted in between. That takes something that outlives both.

Add a package that keeps for each name of a plugin what it knew and what it has
missed, in memory, with a bbolt file that is written behind it. Whoever needs what was
noted to be safe waits for that, and not for long: a file that is full, broken, locked
or on a disk that hangs costs durability alone. What is kept is bounded in time, names and
bytes, for all plugins together. It knows neither plugins nor pods, and nothing uses it yet.

Only containerd's own plugin for NRI is to use it; no other client is affected.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L18", "L22"},
	Status: edit.Upstream,
	Until:  "containerd keeps the ends that NRI plugins have missed until these are back",
	Large:  "a package that nothing uses yet: what it promises of order and of kills holds for all of it together",
	Packages: []edit.Package{{
		From: "internal/nri/missed",
		To:   "internal/nri/missed",
		// It needs a module that containerd does not require.
		Except: []string{"main_test.go"},
	}},
}
