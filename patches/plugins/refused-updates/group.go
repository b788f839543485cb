// SPDX-License-Identifier: Apache-2.0

// Package refusedupdates is one pull request. Its text is pull.md.
package refusedupdates

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/refused-updates",
	Patches: []edit.Patch{FailedUpdates},
}
