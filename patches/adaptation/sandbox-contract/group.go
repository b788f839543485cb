// SPDX-License-Identifier: Apache-2.0

// Package sandboxcontract is one pull request. Its text is pull.md.
package sandboxcontract

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/sandbox-contract",
	Patches: []edit.Patch{SandboxContract},
}
