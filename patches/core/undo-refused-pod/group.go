// SPDX-License-Identifier: Apache-2.0

// Package undorefusedpod is one pull request. Its text is pull.md.
package undorefusedpod

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/undo-refused-pod",
	Core:    true,
	Patches: []edit.Patch{UndoRefusedPod},
}
