// SPDX-License-Identifier: Apache-2.0

// Package stopbeforereclaim is one pull request. Its text is pull.md.
package stopbeforereclaim

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/stop-before-reclaim",
	Core:    true,
	Patches: []edit.Patch{StopBeforeReclaim},
}
