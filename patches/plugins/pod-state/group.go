// SPDX-License-Identifier: Apache-2.0

// Package podstate is one pull request. Its text is pull.md.
package podstate

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/pod-state",
	Patches: []edit.Patch{PodState},
}
