// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCodeIgnoresCommentsAndTests(t *testing.T) {
	of := func(files map[string]string) string {
		c := Commit{Files: map[string][]byte{}}
		for name, content := range files {
			c.Files[name] = []byte(content)
		}
		code, err := Code([]Tree{{Commits: []Commit{c}}})
		require.NoError(t, err)
		return code
	}
	want := of(map[string]string{"a.go": "package a\n\nfunc A() {}\n"})
	for name, same := range map[string]map[string]string{
		"a comment":  {"a.go": "package a\n\n// A does nothing.\nfunc A() {}\n"},
		"a document": {"a.go": "package a\n\nfunc A() {}\n", "README.md": "A.\n"},
		"a test":     {"a.go": "package a\n\nfunc A() {}\n", "a_test.go": "package a\n"},
		"the suite":  {"a.go": "package a\n\nfunc A() {}\n", "integration/a.go": "package integration\n"},
	} {
		require.Equal(t, want, of(same), name)
	}
	for name, other := range map[string]map[string]string{
		"code":        {"a.go": "package a\n\nfunc A() { println() }\n"},
		"a file":      {"b.go": "package a\n\nfunc A() {}\n"},
		"a module":    {"a.go": "package a\n\nfunc A() {}\n", "go.mod": "module a\n"},
		"a build tag": {"a.go": "//go:build linux\n\npackage a\n\nfunc A() {}\n"},
	} {
		require.NotEqual(t, want, of(other), name)
	}
	_, err := Code([]Tree{{Commits: []Commit{{Files: map[string][]byte{"a.go": []byte("pack")}}}}})
	require.Error(t, err)
}
