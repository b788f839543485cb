// SPDX-License-Identifier: Apache-2.0

// Package teardownreachesall is one pull request. Its text is pull.md.
package teardownreachesall

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/teardown-reaches-all",
	Core:    true,
	Patches: []edit.Patch{TeardownReachesAll},
}
