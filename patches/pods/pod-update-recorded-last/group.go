// SPDX-License-Identifier: Apache-2.0

// Package podupdaterecordedlast is one pull request. Its text is pull.md.
package podupdaterecordedlast

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/pod-update-recorded-last",
	Patches: []edit.Patch{PodUpdateRecordedLast},
}
