// SPDX-License-Identifier: Apache-2.0

package nrirequired

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

const (
	pluginError = "pkg/adaptation/plugin_error.go" // of nri/plugin-errors
	waits       = "pkg/adaptation/waits.go"        // of nri/waits
)

// RequiredPlugins lets no pod or container start without the answers of required plugins.
var RequiredPlugins = edit.Patch{
	Slug:    "required-plugins",
	Module:  "nri",
	Subject: "adaptation: require plugins by name, with timeouts of their own",
	Body: `If a plugin sets up the network or the devices of a pod, the pod starts without
them while the plugin is disconnected: because it restarts, crashed, timed out
or has not connected yet. A plugin declares its failure policy itself, and the
policy holds only while it is connected. The default validator can require
plugins, but accepts any plugin that is connected, and only checks containers:
by then the sandbox runs, and its network is set up.

Let runtimes require plugins by name, for pods, containers or both. Namespaces
can be exempt, and so can pods on the host's network (WithPluginSettings). While
a required plugin is disconnected, a pod or container waits for it before any
plugin is asked, as long as set. It then fails as Unavailable, with the name of
the plugin and the time since when it is disconnected. It does not start before
the plugin has answered this very request. If the default validator is enabled,
its annotations that require plugins and that tolerate missing plugins hold for
pods, too; the latter only for plugins whose settings allow that, since the author
of a pod writes it. A plugin that did not subscribe to an event must then only be
connected, as for the validator. A runtime may let a pod wait before it makes
anything of it (AwaitRequired).

Timeouts are the same for all plugins, and must suit the slowest. Let each name
have its own, which the plugin receives when it is configured.`,
	Refs:   []string{"containerd/nri#45", "containerd/nri#142", "containerd/nri#152", "containerd/nri#287", "containerd/nri#304", "containerd/nri#316"},
	Rules:  []string{"L16", "L20"},
	Status: edit.Upstream,
	Until:  "NRI lets runtimes require the answer of a plugin to RunPodSandbox and CreateContainer, and give it timeouts of its own",
	Needs:  []string{"nri/waits"},
	Edits: []edit.Edit{
		edit.DropFile("pkg/adaptation/unrequired.go"),
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

pluginSettings map[string]PluginSettings         // by name, with an index or without
requiredNames  []string                          // of those, the required ones
validator      *validator.DefaultValidatorConfig // nil unless it is enabled`),
		edit.In(nri.Adaptation, edit.Func("WithDefaultValidator")).Before(edit.Stmt(edit.Assign("r.builtin")), `r.validator = cfg
`),
		edit.In("pkg/adaptation/engine.go", edit.Method("Adaptation", "newEngine")).After(edit.Key("OmitCreating"), "Required:       r.required,"),
		edit.In(nri.PluginFile, edit.Method("plugin", "configure")).Replace(
			edit.Expr("getPluginRequestTimeout()").Times(2), "p.requestTimeout()"),

		edit.In(pluginError, edit.Type("PluginError")).Doc(`// PluginError is the error of a request that a plugin failed, with the plugin, the
// event and the reason. Its gRPC code is one of these:
//
//   - DeadlineExceeded if the plugin did not answer in time,
//   - Unavailable if its connection was lost, if it was not asked because it is
//     overdue with another request, or if it is required and has not answered,
//   - the code of the plugin's answer, other than Unknown,
//   - FailedPrecondition if that answer has no code.`),
		edit.In(pluginError, edit.Type("PluginError")).Replace(edit.Field("Plugin"),
			`Plugin string // index and name, as "10-logger"; or the name by which it is required`),
		edit.In(pluginError, edit.Method("PluginError", "Error")).Before(edit.Top(), `var unmet *lifecycle.Unmet
if errors.As(e.Err, &unmet) {
	return fmt.Sprintf("%s rejected: %s", e.Event, unmet.Reason())
}`),
		edit.In(pluginError, edit.Method("PluginError", "code")).Replace(edit.Expr("errors.As(e.Err, new(*lifecycle.Overdue))"),
			"errors.As(e.Err, new(*lifecycle.Overdue)), errors.As(e.Err, new(*lifecycle.Unmet))"),
		edit.In(pluginError, edit.Func("failureOf")).Before(edit.Stmt(edit.Declare("failed")), `var unmet *lifecycle.Unmet
if errors.As(err, &unmet) {
	return &PluginError{Plugin: unmet.Plugin, Event: ev.Kind.String(), Err: unmet}
}`),

		edit.In(waits, edit.Type("Wait")).Before(edit.Field("Since"), `// Disconnected is set if the plugin is required and not connected. Since is when the
// request began to wait for it, and Plugin is the name by which it is required.
Disconnected bool

`),
		edit.In(waits, edit.Method("Adaptation", "Waits")).Before(edit.Stmt(edit.If("c.Asking == nil")), `if c.Lacks != "" {
	waits = append(waits, Wait{
		Event:        c.Event.Kind.String(),
		Pod:          c.Event.Pod,
		Container:    c.Event.Container,
		Plugin:       c.Lacks,
		Disconnected: true,
		Since:        c.LacksSince,
	})
}`),
	},
}
