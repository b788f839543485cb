// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Only packages that other modules can import have an API to keep, removed files included.
func TestImportable(t *testing.T) {
	library, program := []byte("// Licence.\n\npackage a\n"), []byte("package main\n")
	require.Equal(t, []string{"./.", "./pkg/a", "./pkg/gone"}, importable([]Commit{
		{Files: map[string][]byte{
			"a.go": library, "pkg/a/a.go": library, "pkg/tested/a_test.go": library, "pkg/a/doc.md": nil,
			"internal/a/a.go": library, "pkg/internal/a.go": library, "pkg/testdata/a.go": library, "cmd/a/main.go": program,
		}},
		{Files: map[string][]byte{"pkg/gone/a.go": nil, "pkg/a/b.go": library}},
	}))
}
