// SPDX-License-Identifier: Apache-2.0

// Package plugingatesnetwork is one pull request. Its text is pull.md.
package plugingatesnetwork

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/network/plugin-gates-network",
	Patches: []edit.Patch{PluginGatesNetwork},
}
