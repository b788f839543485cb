// SPDX-License-Identifier: Apache-2.0

// Package nrirefusedupdates is one pull request. Its text is pull.md.
package nrirefusedupdates

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-refused-updates",
	Patches: []edit.Patch{RefusedUpdates},
}
