// SPDX-License-Identifier: Apache-2.0

// Package currentpodresources is one pull request. Its text is pull.md.
package currentpodresources

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/current-pod-resources",
	Patches: []edit.Patch{CurrentPodResources},
}
