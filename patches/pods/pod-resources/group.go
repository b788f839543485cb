// SPDX-License-Identifier: Apache-2.0

// Package podresources is one pull request. Its text is pull.md.
package podresources

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder: "patches/pods/pod-resources",
	Patches: []edit.Patch{
		PodResourcesFields,
		PodResourcesDecode,
		PodResourcesAnnouncement,
		PodResources,
		PodResourcesCheck,
		PodResourcesDevices,
	},
}
