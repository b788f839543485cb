// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"path"
	"strings"
)

// Name of the patch: "containerd/hook-last". Patches of several modules may have the
// same slug.
func (p Patch) Name() string { return p.Module + "/" + p.Slug }

// source is the file that declares the patch: "patches/pods/creation/hook_last.go".
func (p Patch) source() string { return path.Join(p.In, p.underscored()+".go") }

// folder holds the new files that the patch brings, each under its path below the root of the
// upstream module: "patches/pods/creation/files/hook_last". It does not exist if the patch
// brings none.
func (p Patch) folder() string { return path.Join(p.In, "files", p.underscored()) }

func (p Patch) underscored() string { return strings.ReplaceAll(p.Slug, "-", "_") }
