// SPDX-License-Identifier: Apache-2.0

// Package nribuiltinconfigure is one pull request. Its text is pull.md.
package nribuiltinconfigure

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-builtin-configure",
	Patches: []edit.Patch{BuiltinConfigure},
}
