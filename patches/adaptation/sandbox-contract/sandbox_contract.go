// SPDX-License-Identifier: Apache-2.0

package sandboxcontract

import "github.com/hookline-nri/hookline/internal/edit"

// SandboxContract documents in NRI what plugins can rely on.
var SandboxContract = edit.Patch{
	Slug:    "sandbox-contract",
	Module:  "nri",
	Subject: "docs: say what plugins can rely on in the life of a pod sandbox",
	Body: `No document says what a plugin may rely on: whether it receives each stop,
whether the hook of a pod is the last step that can fail the pod, and what a
plugin that registers late receives. Authors of plugins learn it from leaks, and
authors of runtimes cannot tell a bug from a choice.

Add a page that says it, and that answers the questions of the discussion.`,
	Refs:     []string{"containerd/nri#286", "kubernetes-sigs/cri-tools#2046"},
	Status:   edit.Upstream,
	Until:    "NRI documents what plugins can rely on",
	Untested: "it is a document",
	Edits: []edit.Edit{
		edit.InSection("README.md", "Pod Data and Available Lifecycle Events", "- creation", "- stopping", "- removal").After(`
[A page of its own](docs/sandbox-contract.md) says what plugins can rely on between these events.
`),
	},
}
