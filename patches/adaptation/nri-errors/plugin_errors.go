// SPDX-License-Identifier: Apache-2.0

package nrierrors

import "github.com/hookline-nri/hookline/internal/edit"

// PluginErrors names the plugin in errors, and gives them gRPC codes.
var PluginErrors = edit.Patch{
	Slug:    "plugin-errors",
	Module:  "nri",
	Subject: "adaptation: name the plugin and give a code in errors",
	Body: `A pod that a plugin rejects fails with the plugin's message, such as "rpc error:
code = Unknown desc = no room", and nothing shows which plugin it was. A program
cannot distinguish a timeout, a rejection and a lost connection.

Return a PluginError with plugin, event and reason if a plugin fails a request.
It has a gRPC code, so that runtimes can pass one on: the code of the plugin's
answer, FailedPrecondition if the answer has none, DeadlineExceeded if the
plugin did not answer in time, and Unavailable if its connection was lost. If
the caller cancels, the error has the code for that. If plugins contradict each
other, it is FailedPrecondition.

If the caller's time has ended, the plugin that was asked last is named, and the
one before it may have used all of that time. Say what took it.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#304", "containerd/nri#316"},
	Rules:  []string{"L16", "L17", "L28"},
	Status: edit.Upstream,
	Until:  "NRI's errors name the plugin, and a rejection and a timeout have different codes",
	Needs:  []string{"nri/adaptation-engine"},
	Edits: []edit.Edit{
		edit.DropFile("pkg/adaptation/ask.go"),
	},
}
