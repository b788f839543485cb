// SPDX-License-Identifier: Apache-2.0

// Package nripluginnames is one pull request. Its text is pull.md.
package nripluginnames

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/nri-plugin-names",
	Patches: []edit.Patch{NRIPluginNames},
}
