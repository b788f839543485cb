// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"fmt"
	"go/ast"
	"go/token"
)

// Decl names a declaration at the top of a file.
type Decl struct {
	kind token.Token // FUNC, TYPE, CONST or VAR
	recv string      // a method's receiver type, without * and type parameters
	name string
}

// Func is a function.
func Func(name string) Decl { return Decl{kind: token.FUNC, name: name} }

// Method is a method of recv, which is given without * and type parameters: it
// stands for value, pointer and generic receivers.
func Method(recv, name string) Decl { return Decl{kind: token.FUNC, recv: recv, name: name} }

// Type is a type declaration, on its own or in a group.
func Type(name string) Decl { return Decl{kind: token.TYPE, name: name} }

// Const is a constant declaration, on its own or in a group.
func Const(name string) Decl { return Decl{kind: token.CONST, name: name} }

// Var is the declaration of a variable of the package, on its own or in a group.
func Var(name string) Decl { return Decl{kind: token.VAR, name: name} }

// String renders the declaration for errors: "method Close".
func (d Decl) String() string {
	if d.recv != "" {
		return "method " + d.name
	}
	return d.kind.String() + " " + d.name
}

// decl is a declaration that was found: a function, or one spec of a group.
type decl struct {
	src  *source
	name *ast.Ident
	fn   *ast.FuncDecl // nil unless a function or method
	gen  *ast.GenDecl  // nil unless a type, constant or variable
	spec ast.Spec      // the one in gen
}

// find returns the one declaration that d names.
func (s *source) find(d Decl) (*decl, error) {
	var found []*decl
	for _, top := range s.file.Decls {
		switch top := top.(type) {
		case *ast.FuncDecl:
			if d.kind == token.FUNC && top.Name.Name == d.name && receiver(top) == d.recv {
				found = append(found, &decl{src: s, name: top.Name, fn: top})
			}
		case *ast.GenDecl:
			if top.Tok != d.kind {
				continue
			}
			for _, spec := range top.Specs {
				for _, id := range specIdents(spec) {
					if id.Name == d.name {
						found = append(found, &decl{src: s, name: id, gen: top, spec: spec})
					}
				}
			}
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d declarations, want 1", len(found))
	}
	return found[0], nil
}

// node returns the declaration alone: in a group only the one spec.
func (d *decl) node() ast.Node {
	switch {
	case d.fn != nil:
		return d.fn
	case d.grouped():
		return d.spec
	}
	return d.gen
}

func (d *decl) grouped() bool { return d.gen != nil && d.gen.Lparen.IsValid() }

// receiver returns the name of a method's receiver type, "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	return baseName(fn.Recv.List[0].Type)
}

// baseName returns the name of a type without *, parentheses, package and type
// arguments.
func baseName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return baseName(t.X)
	case *ast.ParenExpr:
		return baseName(t.X)
	case *ast.IndexExpr:
		return baseName(t.X)
	case *ast.IndexListExpr:
		return baseName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}

func specIdents(spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{spec.Name}
	case *ast.ValueSpec:
		return spec.Names
	}
	return nil
}

func specNames(spec ast.Spec) []string {
	var names []string
	for _, id := range specIdents(spec) {
		names = append(names, id.Name)
	}
	return names
}
