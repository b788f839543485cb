// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A source is a Go file that patches touch.
type source struct {
	name string // module and path: "containerd/internal/nri/config.go"
	file *ast.File
}

// touched parses the Go files that patches touch, except tests: as upstream has them, and as the
// patches leave them.
func touched(modules []Module) (base, tip []source, err error) {
	for _, m := range modules {
		for _, path := range slices.Sorted(maps.Keys(m.Files)) {
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				continue
			}
			name := m.Name + "/" + path
			was, err := fs.ReadFile(m.Base, path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, err
			}
			if base, err = parsed(base, name, was); err != nil {
				return nil, nil, err
			}
			if tip, err = parsed(tip, name, m.Files[path]); err != nil {
				return nil, nil, err
			}
		}
	}
	return base, tip, nil
}

// parsed adds a file to files, if it exists.
func parsed(files []source, name string, content []byte) ([]source, error) {
	if content == nil {
		return files, nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return append(files, source{name, file}), nil
}

// imported returns the name under which a file imports a package, empty if it does not.
func (s source) imported(path string) string {
	for _, i := range s.file.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err != nil || p != path {
			continue
		}
		if i.Name != nil {
			return i.Name.Name
		}
		return strings.TrimPrefix(path[strings.LastIndex(path, "/")+1:], "go-")
	}
	return ""
}

// stringOf returns the value of a constant string, made of literals and sums of them.
func stringOf(e ast.Expr) (string, error) {
	value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(e))
	if err != nil || value.Value == nil || value.Value.Kind() != constant.String {
		return "", fmt.Errorf("%s is not a constant string that can be read here: write it out", types.ExprString(e))
	}
	return constant.StringVal(value.Value), nil
}

// stringsOf returns the values of constant strings.
func stringsOf(exprs []ast.Expr) ([]string, error) {
	var all []string
	for _, e := range exprs {
		t, err := stringOf(e)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// A call is on.method(args).
type call struct {
	on     ast.Expr
	method string
	args   []ast.Expr
	to     string // last name of the variable that gets its result, if any
}

// calls returns the calls of a declaration, from the outside in.
func calls(d ast.Decl) []call {
	to := map[ast.Expr]string{}
	var all []call
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) == len(n.Rhs) {
				for i, e := range n.Rhs {
					to[e] = lastName(n.Lhs[i])
					to[wrapped(e)] = lastName(n.Lhs[i])
				}
			}
		case *ast.ValueSpec:
			if len(n.Names) == len(n.Values) {
				for i, e := range n.Values {
					to[e] = n.Names[i].Name
				}
			}
		case *ast.KeyValueExpr:
			to[n.Value] = lastName(n.Key)
		case *ast.CallExpr:
			if selector, ok := n.Fun.(*ast.SelectorExpr); ok {
				all = append(all, call{selector.X, selector.Sel.Name, n.Args, to[n]})
			}
		}
		return true
	})
	return all
}

// wrapped returns the argument of a call of a function of the package with one argument, such as x of
// f(x), and otherwise the expression itself.
func wrapped(e ast.Expr) ast.Expr {
	if c, ok := e.(*ast.CallExpr); ok && len(c.Args) == 1 {
		if _, own := c.Fun.(*ast.Ident); own {
			return c.Args[0]
		}
	}
	return e
}

// lastName returns the last name of an expression such as a.b.c.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// isName reports whether an expression is that name.
func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && name != "" && id.Name == name
}
