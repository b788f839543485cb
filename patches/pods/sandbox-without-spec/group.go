// SPDX-License-Identifier: Apache-2.0

// Package sandboxwithoutspec is one pull request. Its text is pull.md.
package sandboxwithoutspec

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/sandbox-without-spec",
	Patches: []edit.Patch{SandboxWithoutSpec},
}
