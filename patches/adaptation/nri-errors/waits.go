// SPDX-License-Identifier: Apache-2.0

package nrierrors

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// Waits says which plugin a pod on its way waits for.
var Waits = edit.Patch{
	Slug:    "waits",
	Module:  "nri",
	Subject: "adaptation: say which plugins pods and containers wait for",
	Body: `A pod or container whose creation hangs in a hook does not say in which. Let
runtimes ask which plugin each creation waits for, since when, and what the
plugin is at if it has another event before that.

The pid of a plugin that was launched is taken from its socket, whose two ends
were made by the runtime: it is the runtime's own. Take that of the process.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#304"},
	Rules:  []string{"L17"},
	Status: edit.Upstream,
	Until:  "NRI tells runtimes which plugin a request waits for, and the pid of plugins that it launched",
	Needs:  []string{"nri/plugin-errors"},
	Edits: []edit.Edit{
		edit.In(nri.PluginFile, edit.Method("Adaptation", "newLaunchedPlugin")).After(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Call("p.connect"))), "p.pid = cmd.Process.Pid // the runtime made both ends of the socket"),
	},
}
