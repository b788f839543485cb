// SPDX-License-Identifier: Apache-2.0

// Package pluginseries is one pull request. Its text is pull.md.
package pluginseries

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/plugin-series",
	Patches: []edit.Patch{PluginSeries},
}
