// SPDX-License-Identifier: Apache-2.0

// Package recordslast is one pull request. Its text is pull.md.
package recordslast

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/records-last",
	Patches: []edit.Patch{RecordBeforeList, EndBeforeRecord},
}
