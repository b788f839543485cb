// SPDX-License-Identifier: Apache-2.0

// Package nrirequired is one pull request. Its text is pull.md.
package nrirequired

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-required",
	Patches: []edit.Patch{RequiredPlugins},
}
