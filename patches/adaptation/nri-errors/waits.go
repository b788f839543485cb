// SPDX-License-Identifier: Apache-2.0

package nrierrors

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// Waits reports which plugin the creation of a pod waits for.
var Waits = edit.Patch{
	Slug:    "waits",
	Module:  "nri",
	Subject: "adaptation: say which plugins pods and containers wait for",
	Body: `If the creation of a pod or container hangs in a hook, nothing shows which plugin
it waits for. Let runtimes ask which plugin each creation waits for, since when,
and which earlier event the plugin handles now, if any.

NRI takes the pid of a launched plugin from its socket. The runtime made both
ends of that socket, so this is the runtime's own pid. Use that of the process.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#304"},
	Rules:  []string{"L17"},
	Status: edit.Upstream,
	Until:  "NRI reports to runtimes which plugin a request waits for, and the pid of plugins that it launched",
	Needs:  []string{"nri/plugin-errors"},
	Edits: []edit.Edit{
		edit.In(nri.PluginFile, edit.Method("Adaptation", "newLaunchedPlugin")).After(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Call("p.connect"))), "p.pid = cmd.Process.Pid // the runtime made both ends of the socket"),
	},
}
