// SPDX-License-Identifier: Apache-2.0

// Package undo is one pull request. Its text is pull.md.
package undo

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/undo",
	Patches: []edit.Patch{UndoInOrder, StartUnderLease},
}
