// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// PodResourcesDevices lets announced CDI devices require plugins for their pod.
var PodResourcesDevices = edit.Patch{
	Slug:    "pod-resources-devices",
	Module:  "containerd",
	Subject: "nri: let announced CDI devices require plugins for their pod",
	Body: `The specification of a CDI device can require plugins for a container. A
plugin that sets up its devices for the whole pod, such as the interfaces of
its network, has to have done so when the pod becomes Ready, which is before
the first container is created.

Let the CDI devices that are announced with a pod require the same plugins
for the pod. One that has no specification yet requires nothing until its
container is created.`,
	Refs:   []string{"kubernetes/enhancements#4113", "containerd/nri#282"},
	Rules:  []string{"L29"},
	Status: edit.Hold,
	Hold:   "KEP-4112 is not merged: CRI and NRI have no fields for it",
	Until:  "CRI and NRI have the fields of KEP-4112",
	Needs:  []string{"containerd/pod-resources", "containerd/device-plugins"},
	Edits: []edit.Edit{
		edit.In("internal/cri/nri/device_plugins_linux.go", edit.Method("criPodSandbox", "GetRequiredPlugins")).Replace(edit.Stmt(edit.Return("nil", "nil")), "return p.requiredByAnnounced()"),
		edit.In("internal/cri/nri/device_plugins_linux.go", edit.Method("criPodSandbox", "GetRequiredPlugins")).Doc(
			"// GetRequiredPlugins returns the plugins that the CDI devices require which are announced with the pod."),
	},
}
