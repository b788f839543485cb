// SPDX-License-Identifier: Apache-2.0

// Package nrisettings is one pull request. Its text is pull.md.
package nrisettings

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/nri-settings",
	Patches: []edit.Patch{NRISettings},
}
