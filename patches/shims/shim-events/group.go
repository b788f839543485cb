// SPDX-License-Identifier: Apache-2.0

// Package shimevents is one pull request. Its text is pull.md.
package shimevents

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/shims/shim-events",
	Patches: []edit.Patch{ShimEvents},
}
