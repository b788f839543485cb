// SPDX-License-Identifier: Apache-2.0

package nriregisterbounds

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// RegisterBounds bounds what a plugin registers with.
var RegisterBounds = edit.Patch{
	Slug:    "register-bounds",
	Module:  "nri",
	Subject: "adaptation: bound the name that a plugin registers with",
	Body: `A plugin registers with a name of any length that fits a message, 4 MiB.
The name is kept for as long as the plugin is connected, and goes into
each line of the log about it, into errors and into the labels of
metrics, some of which outlive the plugin. Its NRI version is logged as
it comes, newlines included. An error quotes a name or index that is not
valid in full.

Reject a name of more than 64 bytes, which leaves room for that of any
DRA driver, and a version of more than that or with characters that
cannot be printed, with code InvalidArgument. Quote no more than 64
bytes of what was sent. Of a failure policy keep what is known of it:
unknown fields have any length, too.

Names of plugins that the runtime launches are those of their files, and
stay as they are.`,
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
