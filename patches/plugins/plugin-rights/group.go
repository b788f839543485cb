// SPDX-License-Identifier: Apache-2.0

// Package pluginrights is one pull request. Its text is pull.md.
package pluginrights

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/plugin-rights",
	Patches: []edit.Patch{PluginRights},
}
