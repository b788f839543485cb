// SPDX-License-Identifier: Apache-2.0

package nrierrors

import "github.com/hookline-nri/hookline/internal/edit"

// PluginErrors says who rejected, and gives errors their gRPC codes.
var PluginErrors = edit.Patch{
	Slug:    "plugin-errors",
	Module:  "nri",
	Subject: "adaptation: name the plugin and give a code in errors",
	Body: `A pod that a plugin rejects fails with what the plugin said, as "rpc error:
code = Unknown desc = no room", and nothing tells which of the plugins it was.
A timeout, a rejection and a lost connection look alike to all but a reader.

Return a PluginError with plugin, event and reason for what fails because of a
plugin. It has a gRPC code, so that runtimes can pass one on: that of the
plugin's answer, FailedPrecondition if it gave none, DeadlineExceeded if it did
not answer in time, and Unavailable if its connection was lost. An error of a
caller who gave up has the code of that, and one of plugins that contradict
each other is FailedPrecondition.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#316"},
	Rules:  []string{"L16", "L17"},
	Status: edit.Upstream,
	Until:  "NRI's errors name the plugin and tell a rejection from a timeout by their code",
	Needs:  []string{"nri/adaptation-engine"},
	Edits: []edit.Edit{
		edit.DropFile("pkg/adaptation/ask.go"),
	},
}
