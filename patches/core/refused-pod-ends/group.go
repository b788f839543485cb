// SPDX-License-Identifier: Apache-2.0

// Package refusedpodends is one pull request. Its text is pull.md.
package refusedpodends

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/refused-pod-ends",
	Core:    true,
	Patches: []edit.Patch{RefusedPodEnds},
}
