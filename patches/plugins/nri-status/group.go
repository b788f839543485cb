// SPDX-License-Identifier: Apache-2.0

// Package nristatus is one pull request. Its text is pull.md.
package nristatus

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/nri-status",
	Patches: []edit.Patch{NRIStatus},
}
