// SPDX-License-Identifier: Apache-2.0

// Package sandboxwithoutprocess is one pull request. Its text is pull.md.
package sandboxwithoutprocess

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder: "patches/pods/sandbox-without-process",
	Patches: []edit.Patch{
		SandboxWithoutProcess, MetricsWithoutProcess, PodsWithoutPause,
		BundleMounts, PinnedNamespaces, SandboxService, SandboxedShim, SandboxDeleteCommand,
	},
}

// program is the folder of the shim in containerd's tree.
const program = "cmd/containerd-shim-sandboxed-runc-v2"

// part brings files of the package that makes sandboxes along.
func part(files ...string) edit.Package {
	return edit.Package{From: "internal/shim/sandbox", To: program + "/sandbox", Only: files}
}
