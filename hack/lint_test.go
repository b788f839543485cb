// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files that belong to no package here. The comments name their check.
var checkedElsewhere = []string{
	"patches/",                     // files for upstream packages, below files: check, in their trees
	"hack/tools/critest/proposed/", // in the tree of cri-tools: critest
	"hack/targets/v2.3.7/pins.go",  // imports that keep a version, never built
}

// Every Go file is in a module that is linted. The go command skips folders called files, which
// must be below patches.
func TestLintSeesEveryFile(t *testing.T) {
	a := &app{config: config{root: ".."}}
	modules, err := a.modules(t.Context())
	require.NoError(t, err)
	require.Contains(t, modules, ".")
	tree := os.DirFS("..")
	err = eachFile(tree, func(name string) error {
		if path.Ext(name) != ".go" || slices.ContainsFunc(checkedElsewhere, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return nil
		}
		require.NotContains(t, strings.Split(name, "/"), "files", name)
		module := path.Dir(name)
		for !contains(tree, path.Join(module, "go.mod")) {
			module = path.Dir(module)
		}
		require.Contains(t, modules, module, name)
		return nil
	})
	require.NoError(t, err)
}

func contains(tree fs.FS, name string) bool {
	_, err := fs.Stat(tree, name)
	return err == nil
}
