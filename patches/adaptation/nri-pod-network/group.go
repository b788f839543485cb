// SPDX-License-Identifier: Apache-2.0

// Package nripodnetwork is one pull request. Its text is pull.md.
package nripodnetwork

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-pod-network",
	Patches: []edit.Patch{ProtoPodNetwork, PodNetwork},
}
