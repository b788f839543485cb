// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"golang.org/x/mod/module"
)

// AddImport imports a package in the file at path, in the block of imports that
// suits it best, in gofmt's order.
func AddImport(path, importPath string) Edit {
	add := imported{path: importPath}
	return importEdit(path, importPath, module.CheckImportPath(importPath), func(s *source) (splice, error) {
		for _, spec := range s.file.Imports {
			if importOf(spec) == add {
				return splice{}, errors.New("is imported already")
			}
		}
		return s.addImport(add)
	})
}

// DropImport removes an import from the file at path, with its comments.
func DropImport(path, importPath string) Edit {
	return importEdit(path, importPath, nil, func(s *source) (splice, error) {
		var found []ast.Node
		for _, gen := range s.imports() {
			for _, spec := range gen.Specs {
				switch {
				case importOf(spec.(*ast.ImportSpec)).path != importPath:
				case len(gen.Specs) == 1:
					found = append(found, gen)
				default:
					found = append(found, spec)
				}
			}
		}
		if len(found) != 1 {
			return splice{}, fmt.Errorf("%d matches, want 1", len(found))
		}
		return s.around(found[0]).cut()
	})
}

func importEdit(path, importPath string, err error, change func(*source) (splice, error)) Edit {
	return Edit{path: path, decl: fmt.Sprintf("import %q", importPath), err: err, change: func(s *source) ([]splice, error) {
		c, err := change(s)
		return []splice{c}, err
	}}
}

// imported is the content of an import line.
type imported struct{ name, path string }

func importOf(spec *ast.ImportSpec) imported {
	var i imported
	// It parsed, so the quotes are valid.
	i.path, _ = strconv.Unquote(spec.Path.Value)
	if spec.Name != nil {
		i.name = spec.Name.Name
	}
	return i
}

func (i imported) String() string {
	return strings.TrimSpace(i.name + " " + strconv.Quote(i.path))
}

// less is gofmt's order within a block.
func (i imported) less(than imported) bool {
	if i.path != than.path {
		return i.path < than.path
	}
	return i.name < than.name
}

func (i imported) standard() bool { return Standard(i.path) }

// Standard reports whether a path is that of a package of the standard library.
func Standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// shared counts the path elements that both begin with.
func (i imported) shared(with imported) int {
	a, b := strings.Split(i.path, "/"), strings.Split(with.path, "/")
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// imports returns the import declarations.
func (s *source) imports() []*ast.GenDecl {
	var all []*ast.GenDecl
	for _, top := range s.file.Decls {
		if gen, ok := top.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
			all = append(all, gen)
		}
	}
	return all
}
