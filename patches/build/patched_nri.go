// SPDX-License-Identifier: Apache-2.0

package build

import "github.com/hookline-nri/hookline/internal/edit"

// PatchedNRI builds containerd with the patched NRI beside it.
var PatchedNRI = edit.Patch{
	Slug:    "patched-nri",
	Module:  "containerd",
	Subject: "go.mod: take the patched NRI",
	Body: `The containerd patches that follow need those of NRI. Require NRI v0.12.5, the
release that NRI's patches are made for. Replace it by the patched tree, which
is beside containerd's.

In a git checkout of containerd, run "go mod vendor" after this commit.`,
	Refs:   []string{"containerd/nri#286"},
	Status: edit.Drop,
	Until:  "NRI has a release with the patches, and containerd's go.mod takes it",
	Edits: []edit.Edit{
		edit.GoMod("go.mod",
			edit.Require("github.com/containerd/nri", "v0.12.5"),
			edit.Substitute("github.com/containerd/nri", "../nri", ""),
		),
		// NRI requires newer modules than containerd does before v2.4.
		edit.GoMod("go.mod",
			edit.Require("github.com/stretchr/testify", "v1.12.1"),
			edit.Indirect("go.yaml.in/yaml/v3", "v3.0.5"),
		).Below("v2.4"),
		edit.GoSum("go.sum",
			"github.com/stretchr/objx v0.5.3 h1:jmXUvGomnU1o3W/V5h2VEradbpJDwGrzugQQvL0POH4=",
			"github.com/stretchr/objx v0.5.3/go.mod h1:rDQraq+vQZU7Fde9LOZLr8Tax6zZvy4kuNKF+QYS+U0=",
			"github.com/stretchr/testify v1.12.1 h1:EuwCh5fleGS7H32xRwO3wRGT7DxrDhLAT6FF8MpWDWE=",
			"github.com/stretchr/testify v1.12.1/go.mod h1:MDEgiDPPsNp5cuIrHPPCyornHKgEVbtFUmoNlxoYthg=",
			"go.yaml.in/yaml/v3 v3.0.5 h1:N6y/pJk8buWs9NY5ERU2HSMfm+IuD/OtfdAnq6kESPw=",
			"go.yaml.in/yaml/v3 v3.0.5/go.mod h1:HVTZu1O7/Vkt2N+BFy8Zza+lnLsABggaTM2ZpNIGuKg=",
		).Below("v2.4"),
	},
}
