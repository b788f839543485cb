// SPDX-License-Identifier: Apache-2.0

// Package nrihandover is one pull request. Its text is pull.md.
package nrihandover

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-hand-over",
	Patches: []edit.Patch{HandOver},
}
