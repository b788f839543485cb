// SPDX-License-Identifier: Apache-2.0

package build

import "github.com/hookline-nri/hookline/internal/edit"

// PatchedCNI builds containerd with the patched go-cni beside it.
var PatchedCNI = edit.Patch{
	Slug:    "patched-cni",
	Module:  "containerd",
	Subject: "go.mod: take the patched go-cni",
	Body: `containerd's patches for the network need those of go-cni. Replace go-cni by the
patched tree, which is beside containerd's.

In a git checkout of containerd, run "go mod vendor" after this commit.`,
	Refs:   []string{"containerd/containerd#11186"},
	Status: edit.Drop,
	Until:  "go-cni has a release with the patches, and containerd's go.mod takes it",
	Edits: []edit.Edit{
		edit.GoMod("go.mod", edit.Substitute("github.com/containerd/go-cni", "../go-cni", "")),
		// The patched go-cni requires newer modules than containerd does before v2.4.
		edit.GoMod("go.mod", edit.Require("github.com/containernetworking/cni", "v1.3.1")).Below("v2.4"),
		edit.GoSum("go.sum",
			"github.com/containernetworking/cni v1.3.1 h1:gnHlU/YC1bJcS+CSh+pYQKeuu4O4gsMGW1NMaLhkzW4=",
			"github.com/containernetworking/cni v1.3.1/go.mod h1:OtVXL0yXMfQb+p93OC/vRuhjpxsO1gAV0smjt28UQUQ=",
		).Below("v2.4"),
	},
}
