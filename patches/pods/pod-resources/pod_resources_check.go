// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// PodResourcesCheck compares each container with its announced resources.
var PodResourcesCheck = edit.Patch{
	Slug:    "pod-resources-check",
	Module:  "containerd",
	Subject: "cri: compare containers with their announced resources",
	Body: `A container that differs from its announced resources runs, and nothing
shows the difference. A runtime that sizes a VM by the resources that
were announced with a pod relies on them, but a container may be created
with another mount, device or amount.

Compare each container with its announced resources. Admit it, log the
difference or reject it, as configured. Additions that the kubelet makes
by itself are no differences, and containers that were not announced are
not compared.`,
	Refs:   []string{"kubernetes/enhancements#4113", "containerd/nri#286"},
	Rules:  []string{"R3"},
	Status: edit.Hold,
	Hold:   "KEP-4112 is not merged: CRI and NRI have no fields for it",
	Until:  "CRI and NRI have the fields of KEP-4112",
	Needs:  []string{"containerd/pod-resources"},
	Edits: []edit.Edit{
		containerd.CreateContainer.After(edit.Stmt(edit.Mentions("withResources(ctx, &sandbox, config)")), `if err := c.checkAnnounced(ctx, &sandbox, config); err != nil {
	return nil, err
}`),
		edit.In(containerd.CRIConfig, edit.Type("RuntimeConfig")).AddField(`
// PodResourcesCheck is the action for a container that differs from the resources
// announced with its pod: "off" does not compare, "warn" logs the difference,
// "enforce" rejects the container.
PodResourcesCheck string ` + "`toml:\"pod_resources_check\" json:\"podResourcesCheck\"`" + `
`),
		containerd.UnixDefaults.Before(edit.Key("PodResourcesAnnotation"), `PodResourcesCheck:                PodResourcesCheckWarn,`).Since("v2.4"),
		containerd.WindowsDefaults.Before(edit.Key("PodResourcesAnnotation"), `PodResourcesCheck:      PodResourcesCheckWarn,`).Since("v2.4"),
		containerd.UnixDefaults.Before(edit.Key("PodResourcesAnnotation"), `PodResourcesCheck:      PodResourcesCheckWarn,`).Below("v2.4"),
		containerd.WindowsDefaults.Before(edit.Key("PodResourcesAnnotation"), `PodResourcesCheck:      PodResourcesCheckWarn,`).Below("v2.4"),
		containerd.ValidateConfig.Before(edit.Stmt(edit.If(`c.DrainExecSyncIOTimeout != ""`)), `if err := c.validatePodResourcesCheck(); err != nil {
	return warnings, err
}
`),
	},
	Packages: []edit.Package{{
		From: "podresources/internal/cri/podresources",
		To:   "internal/cri/podresources",
		Only: []string{"check.go", "items.go", "kubelet.go", "check_test.go"},
	}},
}
