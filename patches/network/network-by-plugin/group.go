// SPDX-License-Identifier: Apache-2.0

// Package networkbyplugin is one pull request. Its text is pull.md.
package networkbyplugin

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/network/network-by-plugin",
	Patches: []edit.Patch{NetworkByPlugin},
}
