// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// EngineHandOver brings the engine with connections that succeed another one.
var EngineHandOver = edit.Patch{
	Slug:    "engine-hand-over",
	Module:  "nri",
	Subject: "lifecycle: let a connection succeed another one of its name",
	Body: `Two connections of one name are both served. While a plugin is replaced by one
that is started before the old one is stopped, each of them is told of every
event, and both act on it.

Let a connection be the successor of the one that is there, for names of which
the adaptation says so. It is synchronized beside the first one with what that
one knows, while the turn of the first is kept for no longer than half a request
timeout. Then it takes the place of the first, with its line, what it knows and
what it is owed, in one instant under the engine's lock. What stands in a line
knows in which lane that is, so that nobody who waits notices.

One that takes longer is synchronized while the first goes on, and told late of
what it missed. One that fails changes nothing. Nothing uses this yet.`,
	Refs:     []string{"containerd/nri#286"},
	Rules:    []string{"L17", "L19"},
	Status:   edit.Upstream,
	Until:    "NRI hands the events of a plugin over to the connection that it opens next",
	Needs:    []string{"nri/plugin-peer", "nri/creation-journal"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of nri/hand-over, behind it, drive it",
	Large:    "a successor takes place, line and ledger of another connection in one instant: parts of it would lose events between two lanes",
	Packages: []edit.Package{engineAt("engine-hand-over")},
}
