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

// RequiredPlugins holds back what must not start without a plugin's answer.
var RequiredPlugins = edit.Patch{
	Slug:    "required-plugins",
	Module:  "nri",
	Subject: "adaptation: require plugins by name, with timeouts of their own",
	Body: `A pod whose network or devices are the work of a plugin starts without
them while the plugin is disconnected: it is restarted, it crashed, it timed out, or it
is not there yet. A failure policy is what a plugin declares of itself, and
holds only while it is connected. The default validator can require plugins and
is satisfied by one that is connected, and only for containers: by then the
sandbox is up, and its network as it is.

Let runtimes say which plugins are required, by name, for pods, containers or
both, but for exempt namespaces and, if wanted, for pods on the host's network
(WithPluginSettings). Such a pod or container
waits for a plugin that is disconnected before anyone is asked, as long as is set, and
fails as Unavailable with the name of the plugin and since when it is disconnected. It
does not start before the plugin has answered this very request. With the
default validator enabled, what pods require by its annotation, and what they
tolerate by its other one, holds for pods as well; of plugins that did not
subscribe to an event it is enough, as it is for the validator, that they are
there. A runtime may have a pod wait before anything of it is made (AwaitRequired).

Timeouts are for all plugins or none, and must suit the slowest. Let each name
have its own, and tell the plugin when it is configured.`,
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

		edit.In(pluginError, edit.Type("PluginError")).Doc(`// PluginError says which plugin failed a request of the runtime, in which
// event and why. Its gRPC code is one of these:
//
//   - DeadlineExceeded if the plugin did not answer in time,
//   - Unavailable if its connection was lost, or it was not asked because it owes
//     an answer to another request, or it is required and has not answered,
//   - that of the plugin's answer, other than Unknown,
//   - FailedPrecondition if the plugin rejected without one.`),
		edit.In(pluginError, edit.Type("PluginError")).Replace(edit.Field("Plugin"),
			`Plugin string // index and name, as "10-logger"; of a required plugin the name by which it is`),
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

		edit.In(waits, edit.Type("Wait")).Before(edit.Field("Since"), `// Disconnected is set if the plugin is required and not connected. The request waits for
// it since Since, and Plugin is the name by which it is required.
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
