// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"go/ast"
	"go/token"
	"testing"
)

type fuzzCase struct {
	s                 *source
	d                 *decl
	in                Decl
	text              string
	place, dest, more int
}

// made is an edit and what must hold of its result; no check, no edit.
type made struct {
	edit  Edit
	check func(t *testing.T, src, out string)
}

const (
	someStmt = "text := `a\n\tb` // why\n"
	someDecl = "// F is new.\nfunc F() {\n\tprint(`\n`)\n}\n"
)

// ops are the operations, with texts that they often accept. For an operation without a text,
// the text only varies the place.
var ops = []struct {
	make   func(fuzzCase) made
	places int // how many places a declaration may have
	text   []string
}{
	{func(c fuzzCase) made {
		return c.onStmt(func(a Anchor) Edit { return c.scope().Before(a, c.text) }, c.text, false)
	}, 3, []string{someStmt, "f()"}},
	{func(c fuzzCase) made {
		return c.onStmt(func(a Anchor) Edit { return c.scope().After(a, c.text) }, c.text, false)
	}, 3, []string{someStmt, "f()"}},
	{func(c fuzzCase) made {
		return c.onStmt(func(a Anchor) Edit { return c.scope().Replace(a, c.text) }, c.text, true)
	}, 3, []string{someStmt, "f()"}},
	{func(c fuzzCase) made { return c.onStmt(c.scope().Delete, "", true) }, 3, []string{""}},
	{func(c fuzzCase) made { return c.move(Scope.MoveBefore) }, 3, []string{"", " ", "  "}},
	{func(c fuzzCase) made { return c.move(Scope.MoveAfter) }, 3, []string{"", " ", "  "}},
	{func(c fuzzCase) made { return c.onDecl(c.scope().Before(Top(), c.text), c.text) }, 1, []string{someStmt, "f()"}},
	{func(c fuzzCase) made { return c.onDecl(c.scope().AddField(c.text), c.text) }, 1, []string{"\n\nextra int", "Extra()"}},
	{func(c fuzzCase) made { return c.onDecl(c.scope().InsertBefore(c.text), c.text) }, 1, []string{someDecl, "extra = 1"}},
	{func(c fuzzCase) made { return made{c.scope().Drop(), c.onlyDecl} }, 1, []string{""}},
	{func(c fuzzCase) made { return made{c.scope().Signature("func " + c.text), c.onlyDecl} }, 1, []string{"f()", "(x T) f(\n\ta int,\n) error"}},
	{func(c fuzzCase) made { return made{c.scope().Rename("renamed"), c.renamed} }, 1, []string{""}},
	{func(c fuzzCase) made { return c.element(c.scope().Delete) }, 3, []string{"", " "}},
	{func(c fuzzCase) made { return c.element(func(a Anchor) Edit { return c.scope().Before(a, c.text) }) }, 3, []string{"k: 1", "k int\n\n", "!", "k"}},
	{func(c fuzzCase) made { return c.element(func(a Anchor) Edit { return c.scope().After(a, c.text) }) }, 3, []string{"k: 1, // k", "\n\nk int", " + k", "k"}},
	{func(c fuzzCase) made { return c.element(func(a Anchor) Edit { return c.scope().Replace(a, c.text) }) }, 3, []string{"k: 1", "k int", "k(\n\t1,\n)", "k"}},
	{func(c fuzzCase) made { return made{AddImport("a.go", "example.org/some/new"), c.imports} }, 1, []string{""}},
	{func(c fuzzCase) made {
		if len(c.s.file.Imports) == 0 {
			return made{}
		}
		spec := c.s.file.Imports[c.place%len(c.s.file.Imports)]
		return made{DropImport("a.go", importOf(spec).path), c.imports}
	}, 1, []string{""}},
}

func (c fuzzCase) scope() Scope { return In("a.go", c.in) }

// declarations returns the declarations of the file, as patches name them.
func declarations(s *source) []Decl {
	var all []Decl
	for _, top := range s.file.Decls {
		switch top := top.(type) {
		case *ast.FuncDecl:
			all = append(all, Method(receiver(top), top.Name.Name))
		case *ast.GenDecl:
			if top.Tok == token.VAR {
				continue // no patch names these
			}
			for _, spec := range top.Specs {
				for _, name := range specNames(spec) {
					all = append(all, Decl{kind: top.Tok, name: name})
				}
			}
		}
	}
	return all
}

// nth is the shape of one statement alone.
func nth(s *stmt) Shape {
	return Shape{name: "nth", match: func(is *stmt) bool { return is.node.Pos() == s.node.Pos() && is.node.End() == s.node.End() }}
}

// pick returns an anchor of a run of statements, and the first and last line
// that it stands on with its comments.
func (c fuzzCase) pick(n, more int) (a Anchor, lo, hi int, ok bool) {
	stmts := statements(c.s, c.d.node())
	if len(stmts) == 0 {
		return a, 0, 0, false
	}
	s := stmts[n%len(stmts)]
	a = Stmt(nth(s))
	// A node of the same extent, as an if in a block that is not shown, is rare.
	if more %= len(s.list) - s.index; more > 0 {
		a = a.And(more)
	}
	last := s.list[s.index+more]
	lo, hi = c.s.line(c.s.offset(s.node.Pos())), c.s.line(c.s.span(last.node).hi)
	return a, c.commented(lo), c.tail(hi), true
}

// commented returns the first of the comment lines directly above a line.
func (c fuzzCase) commented(line int) int {
	for i := len(c.s.comments) - 1; i >= 0; i-- {
		from, to := c.s.line(c.s.comments[i].lo), c.s.line(c.s.comments[i].hi)
		if to == line || to == line-1 {
			line = min(line, from)
		}
	}
	return line
}

// tail returns the last line of comments that begin on a line.
func (c fuzzCase) tail(line int) int {
	for _, m := range c.s.comments {
		if c.s.line(m.lo) == line {
			line = c.s.line(m.hi)
		}
	}
	return line
}

// lines returns the first and last line of the declaration with its comments.
func (c fuzzCase) lines() (lo, hi int) {
	var n ast.Node = c.d.fn
	switch {
	case c.d.gen == nil:
	case len(c.d.gen.Specs) > 1:
		n = c.d.spec
	default:
		n = c.d.gen
	}
	return c.commented(c.s.line(c.s.offset(n.Pos()))), c.tail(c.s.line(c.s.span(n).hi))
}

// element edits a field, a key or an expression, all that look alike.
func (c fuzzCase) element(edit func(Anchor) Edit) made {
	var all []Anchor
	ast.Inspect(c.d.node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, f := range n.Fields.List {
				for _, id := range f.Names {
					all = append(all, Field(id.Name))
				}
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Key
				}
				all = append(all, formed(atKey, c.s.source(e), "key"))
			}
		case *ast.CallExpr:
			all = append(all, Expr(c.s.source(n)))
		case *ast.BinaryExpr:
			all = append(all, Expr(c.s.source(n)))
		}
		return true
	})
	if len(all) == 0 {
		return made{}
	}
	a := all[c.place%len(all)]
	if c.more%2 == 1 {
		a = a.Times(1 + c.dest%3)
	}
	return made{edit(a), c.onlyDecl}
}

func (s *source) source(n ast.Node) string {
	sp := s.span(n)
	return string(s.text[sp.lo:sp.hi])
}
