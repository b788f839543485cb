// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// All files of a patch are in the folder of its group, and have the patch's name.
func TestNames(t *testing.T) {
	g := Group{Folder: "patches/pods/creation", Patches: []Patch{{Module: "app", Slug: "hook-last"}}}
	require.Equal(t, "creation", g.Name())
	require.Equal(t, "patches/pods/creation/pull.md", g.Page())
	p := Assemble(nil, Group{}, g).Patches[0]
	require.Equal(t, "app/hook-last", p.Name())
	require.Equal(t, "patches/pods/creation/hook_last.go", p.source())
	require.Equal(t, "patches/pods/creation/files/hook_last", p.folder())
}
