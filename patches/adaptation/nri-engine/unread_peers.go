// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// UnreadPeers closes the connections of peers that do not read.
var UnreadPeers = edit.Patch{
	Slug:    "unread-peers",
	Module:  "nri",
	Subject: "adaptation: close the connection of a peer that does not read",
	Body: `A plugin process that is stopped, or busy for good, reads nothing. Once the
buffer of its socket is full, a write to it does not return. The next write
waits for it, and so does closing the connection.

Limit each write to a plugin to the timeout of a request or of Synchronize,
whichever is longer, and close the connection when it passes.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#287"},
	Rules:  []string{"L22"},
	Status: edit.Upstream,
	Until:  "NRI closes connections of plugins that do not read",
	Needs:  []string{"nri/adaptation-engine"},
	Edits: []edit.Edit{
		edit.In(nri.PluginFile, edit.Method("plugin", "connect")).Replace(
			edit.Expr("multiplex.Multiplex(conn, multiplex.WithBlockedRead())"), "multiplex.Multiplex(boundedConn{conn}, multiplex.WithBlockedRead())"),
		edit.In(nri.PluginFile, edit.Method("plugin", "connect")).Replace(edit.Expr("getPeerPid(p.mux.Trunk())"), "getPeerPid(conn)"),
	},
}
