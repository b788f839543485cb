// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Files must be gofmt-clean; lines may end as upstream's do.
func TestFormatted(t *testing.T) {
	for _, test := range []struct{ name, file, src, want string }{
		{"clean", "a.go", "package a\n\nvar x = 1\n", ""},
		{"clean with CRLF", "a.go", "package a\r\n\r\nvar x = 1\r\n", ""},
		{"spaces", "a.go", "package a\n\nvar  x = 1\n", "m/slug: a.go is not gofmt-clean"},
		{"no Go", "a.go", "package\n", "m/slug: a.go: "},
		{"no Go file", "go.mod", "module  a\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := formatted(Commit{Patch: edit.Patch{Module: "m", Slug: "slug"}, Files: map[string][]byte{test.file: []byte(test.src)}})
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestFolders(t *testing.T) {
	var removed []byte
	c := Commit{Files: map[string][]byte{
		"main.go": {}, "pkg/a/a.go": {}, "pkg/a/a_test.go": {}, "pkg/b/testdata/x.go": {}, "go.mod": {}, "docs/a.md": {}, "pkg/c/c.go": removed,
	}}
	require.Equal(t, []string{"./.", "./pkg/a"}, folders(c))
}
