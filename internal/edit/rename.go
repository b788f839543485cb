// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// Rename renames the declaration and all uses of it in the same file, and its name at the start
// of its comment. Other files are not read: a use of a method is found only if the type of its
// receiver follows from this file.
func (sc Scope) Rename(name string) Edit {
	var err error
	if !token.IsIdentifier(name) {
		err = fmt.Errorf("%q is not a name", name)
	}
	return sc.edit(func(d *decl) ([]splice, error) {
		pkg, info := d.src.check()
		obj := info.Defs[d.name]
		if obj == nil {
			return nil, fmt.Errorf("nothing refers to %q", d.name.Name)
		}
		at := []*ast.Ident{d.name}
		for id, used := range info.Uses {
			if fn, ok := used.(*types.Func); ok {
				used = fn.Origin()
			}
			if used == obj {
				at = append(at, id)
			}
		}
		var out []splice
		for _, id := range at {
			if taken := lookup(pkg, obj, name, id.Pos()); taken != nil {
				return nil, fmt.Errorf("line %d: the name %s is taken", d.src.line(d.src.offset(id.Pos())), name)
			}
			sp := d.src.span(id)
			out = append(out, replace(sp.lo, sp.hi, name))
		}
		if doc, ok := d.docName(); ok {
			out = append(out, replace(doc.lo, doc.hi, name))
		}
		return out, nil
	}, err)
}

// lookup returns the object that name already stands for at pos, where obj is used.
func lookup(pkg *types.Package, obj types.Object, name string, pos token.Pos) types.Object {
	if fn, ok := obj.(*types.Func); ok && fn.Signature().Recv() != nil {
		taken, _, _ := types.LookupFieldOrMethod(fn.Signature().Recv().Type(), true, pkg, name)
		return taken
	}
	in := pkg.Scope().Innermost(pos)
	if in == nil {
		in = pkg.Scope()
	}
	scope, taken := in.LookupParent(name, pos)
	if scope == types.Universe {
		return nil
	}
	return taken
}

// docName returns the place of the declared name at the start of its comment.
func (d *decl) docName() (span, bool) {
	lo := d.src.around(d.node()).full.lo
	text := string(d.src.text[lo:d.src.span(d.node()).lo])
	rest, ok := strings.CutPrefix(text, "// "+d.name.Name)
	if !ok || rest == "" || !strings.ContainsAny(rest[:1], " \n,.:'") {
		return span{}, false
	}
	lo += len("// ")
	return span{lo, lo + len(d.name.Name)}, true
}

// check resolves the names of the file as far as possible without imports and other files.
func (s *source) check() (*types.Package, *types.Info) {
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Error: func(error) {}, FakeImportC: true}
	files := []*ast.File{s.file}
	if rest := s.receivers(); rest != nil {
		files = append(files, rest)
	}
	// Errors are expected; the names that resolve are in info.
	pkg, _ := conf.Check(s.file.Name.Name, s.fset, files, info)
	return pkg, info
}

// receivers returns a file that declares the receiver types that other files of
// the package declare: without them no method resolves.
func (s *source) receivers() *ast.File {
	declared := map[string]bool{}
	for _, top := range s.file.Decls {
		if gen, ok := top.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
			for _, spec := range gen.Specs {
				declared[spec.(*ast.TypeSpec).Name.Name] = true
			}
		}
	}
	var src strings.Builder
	fmt.Fprintf(&src, "package %s\n", s.file.Name.Name)
	missing := false
	for _, top := range s.file.Decls {
		fn, ok := top.(*ast.FuncDecl)
		if !ok || receiver(fn) == "" || declared[receiver(fn)] {
			continue
		}
		declared[receiver(fn)], missing = true, true
		params := ""
		if n := typeArgs(fn.Recv.List[0].Type); n > 0 {
			var names []string
			for i := range n {
				names = append(names, fmt.Sprintf("T%d", i))
			}
			params = "[" + strings.Join(names, ", ") + " any]"
		}
		fmt.Fprintf(&src, "type %s%s struct{}\n", receiver(fn), params)
	}
	if !missing {
		return nil
	}
	f, err := parser.ParseFile(s.fset, "", src.String(), parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	return f
}

// typeArgs counts the type arguments of a receiver.
func typeArgs(t ast.Expr) int {
	n := 0
	ast.Inspect(t, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IndexExpr:
			n = 1
		case *ast.IndexListExpr:
			n = len(node.Indices)
		}
		return n == 0
	})
	return n
}
