// SPDX-License-Identifier: Apache-2.0

package nrinames

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// RegistrationLog bounds the log about peers that connect and disconnect.
var RegistrationLog = edit.Patch{
	Slug:    "registration-log",
	Module:  "nri",
	Subject: "adaptation: bound the log of short-lived connections",
	Body: `Each connection that registers, or fails to, is logged in three to eight
lines. A line with the plugin's own error may be as long as a message.
A process that reconnects at once fills the log of the runtime, and so
does one that calls UpdateContainers before it has registered. And each
plugin that joins makes NRI list all plugins in the log.

Log at most 50 lines in ten seconds about connections that are younger
than that, each of at most a KiB. The next line says how many were left
out. Do not log that such a connection was closed, since another line
says why, and let ttrpc log nothing about its end. Serve UpdateContainers
only to plugins that have registered. When a plugin joins, log its place
in the order. Log the whole order at the start.

The log about plugins that have been connected for longer is unchanged,
and so is the log about plugins that the runtime has launched.`,
	Rules:  []string{"L17", "L22"},
	Status: edit.Upstream,
	Until:  "NRI bounds the log about peers that fail to register",
	Needs:  []string{"nri/plugin-peer"},
	Edits: []edit.Edit{
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

arrivalLog lineBudget // of connections that are new`),
		edit.In(nri.PluginFile, edit.Type("plugin")).AddField(`

arrived  time.Time   // when it connected, if it did
admitted atomic.Bool // whether it has registered, and was configured`),
		edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Replace(edit.Expr("log.Infof"), "p.logf"),
		edit.In(nri.PluginFile, edit.Method("plugin", "configure")).After(edit.Stmt(edit.Assign("p.policy")), "p.admitted.Store(true)"),
		edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Replace(edit.Expr("log.Infof"), "log.Debugf"),
		edit.In(nri.PluginFile, edit.Method("plugin", "connect")).Replace(edit.Expr("log.Infof"), "p.logEndf"),
		edit.In(nri.PluginFile, edit.Method("plugin", "connect")).Replace(edit.Stmt(edit.Assign("p.rpcl")), "p.rpcl = quietListener{rpcl}"),
		edit.In(nri.PluginFile, edit.Method("plugin", "start")).Replace(edit.Expr("log.Infof"), "p.logEndf"),
		edit.In("pkg/adaptation/changes.go", edit.Method("plugin", "UpdateContainers")).Before(edit.Top(), `if !p.admitted.Load() {
	return nil, status.Error(codes.FailedPrecondition, "no plugin has registered and was configured on this connection")
}
`),
		edit.AddImport("pkg/adaptation/changes.go", "google.golang.org/grpc/codes"),
		edit.AddImport("pkg/adaptation/changes.go", "google.golang.org/grpc/status"),
		edit.In("pkg/adaptation/changes.go", edit.Method("plugin", "UpdateContainers")).Replace(edit.Expr("log.Infof"), "p.logf"),
		edit.In(nri.PluginsFile, edit.Method("observer", "Left")).Replace(edit.Expr("log.Infof"), "p.logf"),
		edit.In(registration, edit.Method("Adaptation", "register")).After(edit.Stmt(edit.Assign("p.identity")), "p.arrived = time.Now()"),
		edit.In(registration, edit.Method("Adaptation", "register")).Replace(edit.Stmt(edit.Call("log.Errorf")), `r.logArrival(log.Errorf, "plugin connected and failed to join: %v", err)`),
		edit.In(registration, edit.Method("Adaptation", "register")).Replace(edit.Stmt(edit.Call("r.logPlugins")).And(1), `r.logPlace(p)`),
		edit.In("pkg/adaptation/names.go", edit.Method("plugin", "hearsRejection")).Replace(
			edit.Stmt(edit.Call("log.Warnf")), `p.r.logArrival(log.Warnf, "%s was rejected and did not disconnect, closing its connection", p.identity)`),
		edit.In("pkg/adaptation/arrivals.go", edit.Method("Adaptation", "letsIn")).Replace(
			edit.Stmt(edit.Call("log.Warnf")), `r.logArrival(log.Warnf, "%s has %d connections that have not registered, and more are closed", id, registeringOfOne)`),
	},
}
