// SPDX-License-Identifier: Apache-2.0

// Package handover is one pull request. Its text is pull.md.
package handover

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/hand-over",
	Patches: []edit.Patch{HandOver},
}
