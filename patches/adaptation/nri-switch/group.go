// SPDX-License-Identifier: Apache-2.0

// Package nriswitch is one pull request. Its text is pull.md.
package nriswitch

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-switch",
	Patches: []edit.Patch{PluginSwitch},
}
