// SPDX-License-Identifier: Apache-2.0

package crossvet

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"runtime"
	"sync"

	"golang.org/x/tools/go/packages"
)

// typing gives packages their types.
type typing struct {
	fset  *token.FileSet
	sizes types.Sizes
	full  map[*packages.Package]bool // those whose function bodies are read
	slots chan struct{}              // one for each package at work

	mu   sync.Mutex // guards once
	once map[*packages.Package]*sync.Once
}

func newTyping(p Platform, full []*packages.Package) *typing {
	c := &typing{
		fset:  token.NewFileSet(),
		sizes: types.SizesFor("gc", p.Arch),
		full:  map[*packages.Package]bool{},
		slots: make(chan struct{}, runtime.GOMAXPROCS(0)),
		once:  map[*packages.Package]*sync.Once{},
	}
	for _, pkg := range full {
		c.full[pkg] = true
	}
	return c
}

// check type-checks a package after its imports. Errors go to the package.
func (c *typing) check(pkg *packages.Package) {
	c.mu.Lock()
	once := c.once[pkg]
	if once == nil {
		once = &sync.Once{}
		c.once[pkg] = once
	}
	c.mu.Unlock()
	once.Do(func() {
		var imports sync.WaitGroup
		for _, i := range pkg.Imports {
			imports.Go(func() { c.check(i) })
		}
		imports.Wait()
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		c.types(pkg)
	})
}

func (c *typing) types(pkg *packages.Package) {
	pkg.Fset, pkg.TypesSizes = c.fset, c.sizes
	if pkg.PkgPath == "unsafe" {
		pkg.Types = types.Unsafe
		return
	}
	full := c.full[pkg]
	mode := parser.SkipObjectResolution
	if full {
		mode |= parser.ParseComments
		pkg.TypesInfo = &types.Info{
			Types:        map[ast.Expr]types.TypeAndValue{},
			Defs:         map[*ast.Ident]types.Object{},
			Uses:         map[*ast.Ident]types.Object{},
			Implicits:    map[ast.Node]types.Object{},
			Instances:    map[*ast.Ident]types.Instance{},
			Scopes:       map[ast.Node]*types.Scope{},
			Selections:   map[*ast.SelectorExpr]*types.Selection{},
			FileVersions: map[*ast.File]string{},
		}
	}
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(c.fset, name, nil, mode)
		if err != nil {
			pkg.Errors = append(pkg.Errors, packages.Error{Msg: err.Error(), Kind: packages.ParseError})
		}
		if file != nil {
			files = append(files, file)
		}
	}
	config := types.Config{
		Importer:         imports(pkg.Imports),
		IgnoreFuncBodies: !full,
		Sizes:            c.sizes,
		Error: func(err error) {
			if err, ok := errors.AsType[types.Error](err); ok {
				pkg.Errors = append(pkg.Errors, packages.Error{Pos: c.fset.Position(err.Pos).String(), Msg: err.Msg, Kind: packages.TypeError})
			}
		},
	}
	if pkg.Module != nil && pkg.Module.GoVersion != "" {
		config.GoVersion = "go" + pkg.Module.GoVersion
	}
	pkg.Types, _ = config.Check(pkg.PkgPath, c.fset, files, pkg.TypesInfo) // errors are in pkg.Errors
	pkg.IllTyped = len(pkg.Errors) > 0
	if full {
		pkg.Syntax = files
	}
}

// imports finds the imports of a package, by the paths in its source.
type imports map[string]*packages.Package

func (i imports) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	pkg := i[path]
	if pkg == nil || pkg.Types == nil {
		return nil, fmt.Errorf("package %s was not loaded", path)
	}
	return pkg.Types, nil
}
