// SPDX-License-Identifier: Apache-2.0

// Package deviceplugins is one pull request. Its text is pull.md.
package deviceplugins

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/device-plugins",
	Patches: []edit.Patch{DevicePlugins},
}
