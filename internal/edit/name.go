// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"path"
	"strings"
)

// Name of the patch: "containerd/hook-last". Patches of several modules may have the
// same slug.
func (p Patch) Name() string { return p.Module + "/" + p.Slug }

// Source is the file that declares the patch, and nothing that another one
// uses: "patches/containerd/hook_last.go".
func (p Patch) Source() string { return path.Join("patches", p.Module, p.underscored()+".go") }

// Value is the Go name of the patch in that file: "HookLast", "NRISettings".
func (p Patch) Value() string {
	var name strings.Builder
	for word := range strings.SplitSeq(p.Slug, "-") {
		if initialisms[word] {
			name.WriteString(strings.ToUpper(word))
		} else if word != "" {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String()
}

// Folder holds the new files that the patch brings, each under its path
// below the root of the upstream module: "patches/containerd/files/hook_last".
// It is not there if the patch brings none.
func (p Patch) Folder() string { return path.Join(Folders(p.Module), p.underscored()) }

// Folders holds the folders of the patches of a module.
func Folders(module string) string { return path.Join("patches", module, "files") }

func (p Patch) underscored() string { return strings.ReplaceAll(p.Slug, "-", "_") }

// initialisms are words of slugs that Go names have in capitals.
var initialisms = map[string]bool{"cni": true, "cri": true, "gc": true, "nri": true}
