// SPDX-License-Identifier: Apache-2.0

// Package build has the patches that are only for the build of containerd with the patched
// modules beside it. They are not for upstream.
package build

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order. It is no pull request.
var Group = edit.Group{
	Folder:  "patches/build",
	Patches: []edit.Patch{PatchedNRI, PatchedCNI},
}
