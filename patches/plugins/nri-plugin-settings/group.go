// SPDX-License-Identifier: Apache-2.0

// Package nripluginsettings is one pull request. Its text is pull.md.
package nripluginsettings

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/nri-plugin-settings",
	Patches: []edit.Patch{NRIPluginSettings},
}
