// SPDX-License-Identifier: Apache-2.0

package nriregisterbounds

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// RegisterBounds bounds the data that a plugin registers with.
var RegisterBounds = edit.Patch{
	Slug:    "register-bounds",
	Module:  "nri",
	Subject: "adaptation: bound the name that a plugin registers with",
	Body: `A plugin registers with a name of any length that fits in a message,
4 MiB. NRI keeps the name while the plugin is connected. The name is in
each line of the log about the plugin, in errors and in the labels of
metrics, and some metrics outlive the plugin. The plugin's NRI version is
logged as received, with newlines. An error quotes the whole of an
invalid name or index.

Reject a name of more than 64 bytes with code InvalidArgument. This
leaves room for the name of any DRA driver. Reject a version of more than
64 bytes, or with characters that cannot be printed, too. Quote at most
64 bytes of the rejected text. Keep only the known fields of a failure
policy: unknown fields can have any length, too.

Plugins that the runtime launches have the names of their files, and are
not bounded.`,
	Rules:  []string{"L22"},
	Status: edit.Upstream,
	Until:  "NRI bounds the length of a plugin's name",
	Edits: []edit.Edit{
		edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Before(edit.Top(), `if err := checkRegistration(req, p.isExternal()); err != nil {
	p.regC <- err
	return nil, err.status()
}
`),
		edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Delete(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Mentions("api.CheckPluginName(req.PluginName)")))),
		edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Delete(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Mentions("api.CheckPluginIndex(req.PluginIdx)")))),
		edit.In(nri.PluginFile, edit.Method("plugin", "configure")).Replace(edit.Expr("rpl.FailurePolicy"), "knownPolicy(rpl.FailurePolicy)"),
	},
}
