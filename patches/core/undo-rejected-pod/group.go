// SPDX-License-Identifier: Apache-2.0

// Package undorejectedpod is one pull request. Its text is pull.md.
package undorejectedpod

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/undo-rejected-pod",
	Core:    true,
	Patches: []edit.Patch{UndoRejectedPod},
}
