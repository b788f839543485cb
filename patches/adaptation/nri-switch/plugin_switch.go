// SPDX-License-Identifier: Apache-2.0

package nriswitch

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

const (
	names     = "pkg/adaptation/names.go"             // of plugin-peer
	ownStarts = "pkg/adaptation/own_plugins.go"       // of adaptation-engine
	metrics   = "pkg/adaptation/lifecycle_metrics.go" // of delivery-metrics
)

// withEngine is what a test that registers a plugin needs: the engine knows which plugins are off.
const withEngine = "&Adaptation{engine: (&Adaptation{}).newEngine()}"

// PluginSwitch turns a plugin off and on while the runtime runs.
var PluginSwitch = edit.Patch{
	Slug:    "plugin-switch",
	Module:  "nri",
	Subject: "adaptation: turn a plugin off and on",
	Body: `An operator whose pods fail because of one plugin can only stop the plugin. A
DaemonSet stops it on all nodes, a plugin that the runtime has launched needs a
restart of the runtime, and a plugin that runs on its own comes back.

Let the runtime turn off the plugin of one index and name. Its connections are
closed, and RegisterPlugin rejects others with FailedPrecondition until it is
turned on. To pods and containers it is a plugin that is disconnected: the ends
that it misses are kept, and pods that require it fail. A plugin that the runtime
launches is started again when it is on. Plugins that are built into the runtime
cannot be turned off.

Before the plugin is turned on, the runtime can show what it will receive: the
list of its Synchronize, which of these it does not know, and the ends that it
has missed.`,
	Rules:  []string{"L17", "L18", "L19"},
	Status: edit.Upstream,
	Until:  "NRI lets runtimes turn a plugin off",
	Needs:  []string{"nri/registration-log", "nri/hand-over"},
	Edits: []edit.Edit{
		edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Before(edit.Stmt(edit.Assign("p.base")), `if err := p.r.checkOn(req.PluginIdx + "-" + req.PluginName); err != nil {
	p.regC <- err
	return nil, status.Error(codes.FailedPrecondition, err.Error())
}
`),
		edit.In("pkg/adaptation/register_bounds_test.go", edit.Func("registered")).Replace(edit.Expr("&Adaptation{}"), withEngine),
		edit.In("pkg/adaptation/registration_log_test.go", edit.Func("TestPeersHaveLittleLogged")).Replace(edit.Expr("&Adaptation{}"), withEngine),
		edit.In("pkg/adaptation/relay_test.go", edit.Func("TestSecondRegistrationIsRejected")).Replace(edit.Expr("&Adaptation{}"), withEngine),
		edit.In(nri.PluginFile, edit.Type("plugin")).AddField(`

left chan struct{} // closed when the plugin has left; nil unless it is one of the plugin folder`),
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

launched map[string]*launched // the plugins of the plugin folder, by name`),
		edit.In(names, edit.Method("plugin", "hearsRejection")).Replace(
			edit.Expr("!errors.As(err, &reserved) && !errors.As(err, &invalid)"),
			"!errors.As(err, &reserved) && !errors.As(err, &invalid) && !errors.Is(err, lifecycle.ErrOff)"),
		edit.AddImport(names, "github.com/containerd/nri/internal/lifecycle"),
		edit.In(ownStarts, edit.Method("Adaptation", "startPlugins")).Replace(edit.Stmt(edit.Define("ids", "names", "configs", "err")),
			"ids, names, _, err := r.discoverPlugins()"),
		edit.In(ownStarts, edit.Method("Adaptation", "startPlugins")).Replace(edit.Stmt(edit.All(edit.Call("start"), edit.Has(edit.Call("r.newLaunchedPlugin")))), `once := make(chan struct{})
tried = append(tried, once)
r.addLaunched(ids[i], name).start(once)`),
		edit.In(ownStarts, edit.Method("Adaptation", "keepTrying")).Signature("func (r *Adaptation) keepTrying(name string, create func() (*plugin, error), tried chan<- struct{}) error"),
		edit.In(ownStarts, edit.Method("Adaptation", "keepTrying")).Doc(`// keepTrying starts a plugin, again and again until it joins, is turned off, or the runtime
// stops. It returns nil if the plugin has joined. It closes tried after the first try.`),
		edit.In(ownStarts, edit.Method("Adaptation", "keepTrying")).Replace(edit.Stmt(edit.If("err == nil")), `switch {
case err == nil:
	log.Infof(noCtx, "%s is synchronized", name)
	return nil
case errors.Is(err, lifecycle.ErrOff):
	log.Infof(noCtx, "%s is turned off", name)
	return err
}`),
		edit.In(ownStarts, edit.Method("Adaptation", "keepTrying")).Replace(edit.Stmt(edit.If("!failed.wait(r.ending)")), `if !failed.wait(r.ending) {
	return err
}`),
		edit.AddImport(ownStarts, "errors"),
		edit.AddImport(ownStarts, "github.com/containerd/nri/internal/lifecycle"),
		edit.In(nri.PluginsFile, edit.Method("observer", "Left")).After(edit.Stmt(edit.Mentions("o.r.dismiss(p)")), `if p.left != nil {
	close(p.left)
}`),
		edit.In(metrics, edit.Func("leaveReason")).Before(edit.Top(), `if errors.Is(err, lifecycle.ErrOff) {
	return "off"
}
`),
		edit.In(metrics, edit.Type("LifecycleMetrics")).Comment(edit.Field("RecordLeave"), `// RecordLeave is called when a plugin has left. reason is "closed" if the plugin
// disconnected by itself or the runtime stops, "replaced" if it registered again
// and the new connection has taken over, "off" if it was turned off, otherwise why
// it was dropped: "timeout", "backlog" or "error".`),
	},
}
