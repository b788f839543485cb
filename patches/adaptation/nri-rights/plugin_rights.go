// SPDX-License-Identifier: Apache-2.0

package nrirights

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

const relay = "pkg/adaptation/relay.go" // of adaptation-engine

// PluginRights limits what a plugin may subscribe to, adjust and update.
var PluginRights = edit.Patch{
	Slug:    "plugin-rights",
	Module:  "nri",
	Subject: "adaptation: let runtimes limit what a plugin may do",
	Body: `A process that can connect to NRI's socket has the power of root: its answer
to CreateContainer can add a hook that runs on the node, a mount of any folder
or any device. The default validator rejects some adjustments, but those of all
plugins alike, and it sees neither subscriptions nor updates of other containers.

Let settings list the rights of a plugin by its name, and the rights of all
plugins that have none listed (WithPluginRights). A right is an event, a field of
the adjustment of a container, the update or the eviction of others, or a group
of these. A plugin that subscribes to more fails to register. An answer that asks
for more counts as the plugin's error, and nothing of it is applied.
UpdateContainers fails with PermissionDenied.

The messages of plugins are read by reflection: a field that the adjustment of a
container gains later needs no change here, and is not allowed until a right
names it. Plugins that are built into the runtime are not limited.`,
	Refs:   []string{"containerd/nri#137"},
	Rules:  []string{"L24"},
	Status: edit.Upstream,
	Until:  "NRI lets runtimes limit what a plugin may subscribe to, adjust and update",
	Needs:  []string{"nri/registration-log"},
	Packages: []edit.Package{{
		From: "internal/nri/rights",
		To:   "internal/rights",
	}},
	Edits: []edit.Edit{
		edit.In("pkg/adaptation/plugin_settings.go", edit.Type("PluginSettings")).AddField(`

// Rights limit what the plugin may do, see CheckRights. If empty, those of
// WithPluginRights do.
Rights []string`),
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

pluginRights rights.Set // of plugins whose settings have none`),
		edit.AddImport(nri.Adaptation, "github.com/containerd/nri/internal/rights"),
		edit.In("pkg/adaptation/status.go", edit.Type("PluginStatus")).AddField(`

Rights []string // empty if they are not limited, see CheckRights`),
		edit.In("pkg/adaptation/status.go", edit.Method("Adaptation", "PluginStatus")).Before(edit.Stmt(edit.If("p.policy != nil")), `s.Rights, _ = p.rights()
`),
		edit.In(nri.PluginFile, edit.Method("plugin", "configure")).Before(edit.Stmt(edit.Assign("p.events")), `if err := p.maySubscribe(events); err != nil {
	return err
}
`),
		edit.In(relay, edit.Func("call")).Signature(
			"func call[Q any, R proto.Message](ctx context.Context, c connection, ev lifecycle.Event, send func(context.Context, Q) (R, error), req Q) (any, error)"),
		edit.AddImport(relay, "google.golang.org/protobuf/proto"),
		edit.In(relay, edit.Func("call")).Before(edit.Stmt(edit.Call("c.recordInvocation")), `if err == nil {
	err = c.mayAsk(reply)
}
`),
		edit.In("pkg/adaptation/plugin_error.go", edit.Method("PluginError", "Error")).Before(edit.Top(), `var lacks *errNoRight
if errors.As(e.Err, &lacks) {
	return fmt.Sprintf("%s rejected: %v", e.Event, lacks)
}
`),
		edit.In("pkg/adaptation/synchronization.go", edit.Method("Adaptation", "join")).Before(edit.Stmt(edit.Call("r.change")), `if err == nil {
	err = p.mayAsk(&SynchronizeResponse{Update: updates})
}
if err != nil {
	return err
}
`),
		edit.In("pkg/adaptation/changes.go", edit.Method("plugin", "UpdateContainers")).After(edit.Stmt(edit.If("!p.admitted.Load()")), `if err := p.mayAsk(req); err != nil {
	p.logf(ctx, "UpdateContainers rejected: %v", err)
	return nil, err
}`),
	},
}
