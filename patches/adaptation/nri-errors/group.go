// SPDX-License-Identifier: Apache-2.0

// Package nrierrors is one pull request. Its text is pull.md.
package nrierrors

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-errors",
	Patches: []edit.Patch{PluginErrors, Waits},
}
