// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each exported place is used by a pull request. A place that only other places use begins with a
// small letter.
func TestPlacesAreUsed(t *testing.T) {
	used := map[string]bool{}
	inspect(t, "*/*/*.go", func(_ string, n ast.Node) {
		if use, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := use.X.(*ast.Ident); ok {
				used[pkg.Name+"."+use.Sel.Name] = true
			}
		}
	})
	places := 0
	inspect(t, "places/*/*.go", func(pkg string, n ast.Node) {
		var names []*ast.Ident
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = n.Names
		}
		for _, name := range names {
			if name.IsExported() {
				places++
				assert.True(t, used[pkg+"."+name.Name], "no pull request uses %s.%s: remove it, or let it begin with a small letter if another place needs it", pkg, name.Name)
			}
		}
	})
	require.NotZero(t, places)
}

// inspect walks the syntax of files, with the name of the package.
func inspect(t *testing.T, pattern string, see func(pkg string, n ast.Node)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			see(parsed.Name.Name, n)
			return true
		})
	}
}
