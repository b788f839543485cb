// SPDX-License-Identifier: Apache-2.0

// Package shimdeletecommand is one pull request. Its text is pull.md.
package shimdeletecommand

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/shims/shim-delete-command",
	Patches: []edit.Patch{ShimDeleteCommand},
}
