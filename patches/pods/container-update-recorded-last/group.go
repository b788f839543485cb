// SPDX-License-Identifier: Apache-2.0

// Package containerupdaterecordedlast is one pull request. Its text is pull.md.
package containerupdaterecordedlast

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/container-update-recorded-last",
	Patches: []edit.Patch{ContainerUpdateRecordedLast},
}
