// SPDX-License-Identifier: Apache-2.0

// Package removelocksonce is one pull request. Its text is pull.md.
package removelocksonce

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/remove-locks-once",
	Core:    true,
	Patches: []edit.Patch{RemoveLocksOnce},
}
