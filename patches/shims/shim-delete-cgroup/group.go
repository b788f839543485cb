// SPDX-License-Identifier: Apache-2.0

// Package shimdeletecgroup is one pull request. Its text is pull.md.
package shimdeletecgroup

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/shims/shim-delete-cgroup",
	Patches: []edit.Patch{ShimDeleteCgroup},
}
