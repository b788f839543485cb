// SPDX-License-Identifier: Apache-2.0

// Package shimcollection is one pull request. Its text is pull.md.
package shimcollection

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/shims/shim-collection",
	Patches: []edit.Patch{ShimCollection},
}
