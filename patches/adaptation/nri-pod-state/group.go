// SPDX-License-Identifier: Apache-2.0

// Package nripodstate is one pull request. Its text is pull.md.
package nripodstate

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-pod-state",
	Patches: []edit.Patch{ProtoPodState, PodState},
}
