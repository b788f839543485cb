// SPDX-License-Identifier: Apache-2.0

// Package rejectedpodends is one pull request. Its text is pull.md.
package rejectedpodends

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/rejected-pod-ends",
	Core:    true,
	Patches: []edit.Patch{RejectedPodEnds},
}
