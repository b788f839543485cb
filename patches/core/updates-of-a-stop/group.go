// SPDX-License-Identifier: Apache-2.0

// Package updatesofastop is one pull request. Its text is pull.md.
package updatesofastop

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/updates-of-a-stop",
	Core:    true,
	Patches: []edit.Patch{UpdatesOfAStop},
}
