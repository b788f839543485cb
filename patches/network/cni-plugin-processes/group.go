// SPDX-License-Identifier: Apache-2.0

// Package cnipluginprocesses is one pull request. Its text is pull.md.
package cnipluginprocesses

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/network/cni-plugin-processes",
	Patches: []edit.Patch{PluginProcesses},
}
