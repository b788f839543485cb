// SPDX-License-Identifier: Apache-2.0

package nribuiltinconfigure

import "github.com/hookline-nri/hookline/internal/edit"

// BuiltinConfigure returns the error of a builtin plugin's Configure handler.
var BuiltinConfigure = edit.Patch{
	Slug:    "builtin-configure",
	Module:  "nri",
	Subject: "builtin: return the error of a Configure handler",
	Body: `The Configure handler of a builtin plugin returns a response and an error. If it
fails the response is nil, and the adaptation reads it all the same: the whole
runtime panics at its start for the error of one plugin.

Return the error. A handler that returns neither subscribes to the events that
it has handlers for, as a handler that names no events does.`,
	Refs:   []string{"containerd/nri#316"},
	Rules:  []string{"L22"},
	Status: edit.Upstream,
	Until:  "a builtin plugin may fail in Configure without a response",
	Edits: []edit.Edit{
		edit.In("pkg/adaptation/builtin/plugin.go", edit.Method("BuiltinPlugin", "Configure")).
			Before(edit.Stmt(edit.If("rpl.Events == 0")), `if err != nil {
	return nil, err
}
if rpl == nil {
	rpl = &api.ConfigureResponse{}
}
`),
	},
}
