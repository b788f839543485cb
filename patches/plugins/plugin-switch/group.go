// SPDX-License-Identifier: Apache-2.0

// Package pluginswitch is one pull request. Its text is pull.md.
package pluginswitch

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/plugin-switch",
	Patches: []edit.Patch{PluginSwitch, PluginOutlook},
}
