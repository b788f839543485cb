// SPDX-License-Identifier: Apache-2.0

// Package build has the patches that exist only to build containerd with the patched
// modules beside it. They go nowhere.
package build

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order. It is no pull request.
var Group = edit.Group{
	Folder:  "patches/build",
	Patches: []edit.Patch{PatchedNRI, PatchedCNI},
}
