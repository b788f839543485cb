// SPDX-License-Identifier: Apache-2.0

// Package nrirequiredbyrequest is one pull request. Its text is pull.md.
package nrirequiredbyrequest

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-required-by-request",
	Patches: []edit.Patch{RequiredByRequest},
}
