// SPDX-License-Identifier: Apache-2.0

// Package nrisyncsplit is one pull request. Its text is pull.md.
package nrisyncsplit

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-sync-split",
	Patches: []edit.Patch{SyncSplit},
}
