// SPDX-License-Identifier: Apache-2.0

// Package recovery is one pull request. Its text is pull.md.
package recovery

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/recovery",
	Patches: []edit.Patch{UnreadableRecords, RecoverTheRest},
}
