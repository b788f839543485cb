// SPDX-License-Identifier: Apache-2.0

// Package nrifailures is one pull request. Its text is pull.md.
package nrifailures

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/nri-failures",
	Patches: []edit.Patch{NRIFailures},
}
