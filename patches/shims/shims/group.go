// SPDX-License-Identifier: Apache-2.0

// Package shims is one pull request. Its text is pull.md.
package shims

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder: "patches/shims/shims",
	Patches: []edit.Patch{
		ShimStart,
		TaskCreate,
		TaskDelete,
	},
}
