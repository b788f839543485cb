// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// suite is the folder of containerd's tests that need a running containerd. They are compiled and
// vetted with all others. They run as root against a containerd, which go test does not start.
const suite = "integration"

// unitFiles returns a commit without its files of the suite.
func unitFiles(c Commit) Commit {
	files := maps.Clone(c.Files)
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return path.Dir(name) == suite })
	c.Files = files
	return c
}

// unitPackages returns the packages without the suite.
func unitPackages(all []string) []string {
	return slices.DeleteFunc(all, func(p string) bool { return path.Base(p) == suite })
}

// SuiteTests returns the names of the tests that patches bring to the suite of a tree.
func SuiteTests(t Tree) []string {
	files := map[string][]byte{}
	for _, c := range t.Commits {
		for name, content := range c.Files {
			if path.Dir(name) == suite && strings.HasSuffix(name, "_test.go") {
				files[name] = content
			}
		}
	}
	return testsOf(Commit{Files: files})
}
