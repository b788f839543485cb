// SPDX-License-Identifier: Apache-2.0

// Package nriowedends is one pull request. Its text is pull.md.
package nriowedends

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-owed-ends",
	Patches: []edit.Patch{OwedEnds, CreationJournal},
}
