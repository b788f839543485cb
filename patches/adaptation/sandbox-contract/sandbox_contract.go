// SPDX-License-Identifier: Apache-2.0

package sandboxcontract

import "github.com/hookline-nri/hookline/internal/edit"

// SandboxContract says in NRI's documentation what plugins can rely on.
var SandboxContract = edit.Patch{
	Slug:    "sandbox-contract",
	Module:  "nri",
	Subject: "docs: say what plugins can rely on in the life of a pod sandbox",
	Body: `Nothing says what a plugin may rely on: whether each stop is told, whether the
hook of a pod is the last step that can fail it, what a plugin that registers
late gets. Authors of plugins find out by leaks, and runtimes cannot tell a bug
from a choice.

Add a page that says it, with answers to what was asked in the discussion.`,
	Refs:     []string{"containerd/nri#286", "kubernetes-sigs/cri-tools#2046"},
	Status:   edit.Upstream,
	Until:    "NRI documents what a runtime owes plugins",
	Untested: "it is a document",
	Edits: []edit.Edit{
		edit.InSection("README.md", "Pod Data and Available Lifecycle Events", "- creation", "- stopping", "- removal").After(`
What plugins can rely on between them is in [a page of its own](docs/sandbox-contract.md).
`),
	},
}
