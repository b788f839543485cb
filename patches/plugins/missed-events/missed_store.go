// SPDX-License-Identifier: Apache-2.0

package missedevents

import "github.com/hookline-nri/hookline/internal/edit"

// MissedStore adds the store of missed events, which nothing uses yet.
var MissedStore = edit.Patch{
	Slug:    "missed-store",
	Module:  "containerd",
	Subject: "nri: add a store of the ends that plugins have missed",
	Body: `An NRI plugin that is disconnected while pods end must receive these
ends when it is back, also if containerd restarts in between. That needs
a store that outlives both.

Add a package that keeps, for each name of a plugin, the pods and
containers that it knew and the ends that it missed. It keeps them in
memory, and writes them to a bbolt file in the background. A caller can
wait until a note is safe in the file, for a bounded time: a file that
is full, broken, locked or on a hanging disk costs durability alone. The
store is bounded in time, names and bytes, for all plugins together. It
knows neither plugins nor pods.

Nothing uses the package yet. Only containerd's own plugin for NRI is to
use it; no other client is affected.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L18", "L22"},
	Status: edit.Upstream,
	Until:  "containerd keeps the ends that an NRI plugin has missed until the plugin is back",
	Large:  "a package that nothing uses yet: its guarantees of order and after a kill need all of its parts together",
	Packages: []edit.Package{{
		From: "internal/nri/missed",
		To:   "internal/nri/missed",
		// It needs a module that containerd does not require.
		Except: []string{"main_test.go"},
	}},
}
