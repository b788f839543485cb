// SPDX-License-Identifier: Apache-2.0

// Package owedends is one pull request. Its text is pull.md.
package owedends

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder: "patches/plugins/owed-ends",
	Patches: []edit.Patch{
		OwedStore,
		OwedEnds,
		CreationJournal,
	},
}
