// SPDX-License-Identifier: Apache-2.0

package nrinames

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// RegistrationLog bounds what peers have logged that come and go.
var RegistrationLog = edit.Patch{
	Slug:    "registration-log",
	Module:  "nri",
	Subject: "adaptation: bound the log of connections that come and go",
	Body: `Each connection that registers, or fails to, is logged in three to eight
lines, of up to a message's length if the plugin says why. A process
that tries again at once fills the log of the runtime, as does one that
calls UpdateContainers before it has registered. And each plugin that
joins has all plugins listed.

Log 50 lines in ten seconds about connections that are younger than
that, each of a KiB at most. The next line says how many were left out.
Leave out that such a connection was closed, as another line says why,
and have ttrpc log nothing of how one ends. Serve UpdateContainers to
plugins that have registered alone. Of a plugin that joins log its place
in the order, and the whole order at the start.

What is logged about plugins that are there for longer is as it was, and
so is that about plugins that the runtime has launched.`,
	Rules:  []string{"L17", "L22"},
	Status: edit.Upstream,
	Until:  "NRI bounds how much peers that fail to register have logged",
	Needs:  []string{"nri/plugin-peer"},
	Edits: []edit.Edit{
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

arrivalLog lineBudget // of connections that are new`),
		edit.In(nri.PluginFile, edit.Type("plugin")).AddField(`

arrived  time.Time   // when it connected, if it did
admitted atomic.Bool // whether it has registered`),
		edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Replace(edit.Expr("log.Infof"), "p.logf"),
		edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Before(edit.Stmt(edit.Define("nriVersion")), "p.admitted.Store(true)\n"),
		edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Replace(edit.Expr("log.Infof"), "log.Debugf"),
		edit.In(nri.PluginFile, edit.Method("plugin", "connect")).Replace(edit.Expr("log.Infof"), "p.logEndf"),
		edit.In(nri.PluginFile, edit.Method("plugin", "connect")).Replace(edit.Stmt(edit.Assign("p.rpcl")), "p.rpcl = quietListener{rpcl}"),
		edit.In(nri.PluginFile, edit.Method("plugin", "start")).Replace(edit.Expr("log.Infof"), "p.logEndf"),
		edit.In("pkg/adaptation/changes.go", edit.Method("plugin", "UpdateContainers")).Before(edit.Top(), `if !p.admitted.Load() {
	return nil, status.Error(codes.FailedPrecondition, "no plugin has registered on this connection")
}
`),
		edit.AddImport("pkg/adaptation/changes.go", "google.golang.org/grpc/codes"),
		edit.AddImport("pkg/adaptation/changes.go", "google.golang.org/grpc/status"),
		edit.In("pkg/adaptation/changes.go", edit.Method("plugin", "UpdateContainers")).Replace(edit.Expr("log.Infof"), "p.logf"),
		edit.In(nri.PluginsFile, edit.Method("observer", "Left")).Replace(edit.Expr("log.Infof"), "p.logf"),
		edit.In(registration, edit.Method("Adaptation", "register")).After(edit.Stmt(edit.Assign("p.who")), "p.arrived = time.Now()"),
		edit.In(registration, edit.Method("Adaptation", "register")).Replace(edit.Stmt(edit.Call("log.Errorf")), `r.logArrival(log.Errorf, "plugin connected and failed to join: %v", err)`),
		edit.In(registration, edit.Method("Adaptation", "register")).Replace(edit.Stmt(edit.Call("r.logPlugins")).And(1), `r.logPlace(p)`),
		edit.In("pkg/adaptation/names.go", edit.Method("plugin", "hearsRejection")).Replace(
			edit.Stmt(edit.Call("log.Warnf")), `p.r.logArrival(log.Warnf, "%s was rejected, stays connected, and is disconnected", p.who)`),
		edit.In("pkg/adaptation/arrivals.go", edit.Method("Adaptation", "letsIn")).Replace(
			edit.Stmt(edit.Call("log.Warnf")), `r.logArrival(log.Warnf, "%s has %d connections that have not registered, and more are closed", w, registeringOfOne)`),
	},
}
