// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// target is a place that an anchor matched.
type target struct {
	src    *source
	core   span   // the code
	full   span   // with its comments, and an element's comma
	indent string // of the code's line
	sep    string // separates it from others on its line; "" for an expression
	whole  bool   // nothing else is on its lines
}

// targets returns the places that a matches in the declaration, in order.
func (d *decl) targets(a Anchor) ([]target, error) {
	var found []target
	var err error
	switch stmts := statements(d.src, d.node()); a.kind {
	case atStmt:
		found, err = d.stmts(a, stmts)
	case atExpr:
		found = d.exprs(a, stmts)
	case atField:
		found = d.fields(a, stmts)
	case atKey:
		found = d.keys(a, stmts)
	default:
		err = errors.New("is a point, not a range")
	}
	if err != nil {
		return nil, a.locate(err)
	}
	if len(found) == a.times {
		return found, nil
	}
	where := ""
	if len(found) > 0 {
		var at []string
		for _, t := range found {
			at = append(at, fmt.Sprint(d.src.line(t.core.lo)))
		}
		where = " (lines " + strings.Join(at, ", ") + ")"
	}
	return nil, a.locate(fmt.Errorf("%d matches, want %d%s", len(found), a.times, where))
}

func (d *decl) stmts(a Anchor, stmts []*stmt) ([]target, error) {
	var found []target
	for _, s := range stmts {
		if !a.shape.match(s) || !a.allows(s.up) {
			continue
		}
		last, err := s.last(a)
		if err != nil {
			return nil, err
		}
		core := span{d.src.span(s.node).lo, d.src.span(last.node).hi}
		inner := d.src.span(s.unlabelled()).lo
		if !d.src.startsLine(inner) {
			inner = core.lo
		}
		found = append(found, d.src.target(core, d.src.indent(inner), ";"))
	}
	return found, nil
}

// last returns the last statement of the range that begins with s.
func (s *stmt) last(a Anchor) (*stmt, error) {
	rest := s.list[s.index:]
	if a.more >= len(rest) {
		return nil, fmt.Errorf("line %d: %d statements follow, want %d", s.src.line(s.src.span(s.node).lo), len(rest)-1, a.more)
	}
	return rest[a.more], nil
}

// allows reports whether the anchor may match below the statement up.
func (a Anchor) allows(up *stmt) bool {
	if a.within == nil {
		return true
	}
	for ; up != nil; up = up.up {
		if a.within.match(up) {
			return true
		}
	}
	return false
}

// innermost returns the innermost statement around a range, nil if none is.
func (s *source) innermost(at span, stmts []*stmt) *stmt {
	var in *stmt
	for _, st := range stmts {
		if sp := s.span(st.node); sp.lo <= at.lo && at.hi <= sp.hi {
			in = st
		}
	}
	return in
}

func (d *decl) exprs(a Anchor, stmts []*stmt) []target {
	names := map[*ast.Ident]bool{d.name: true} // identifiers that are no expressions
	seen := map[span]bool{}
	var found []target
	ast.Inspect(d.node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			names[n.Sel] = true
		case *ast.Field:
			for _, id := range n.Names {
				names[id] = true
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id] = true
			}
		case *ast.TypeSpec:
			names[n.Name] = true
		case *ast.LabeledStmt:
			names[n.Label] = true
		case *ast.BranchStmt:
			names[n.Label] = true
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				names[id] = true
			}
			return true
		}
		e, ok := n.(ast.Expr)
		if id, isName := n.(*ast.Ident); !ok || isName && names[id] {
			return true
		}
		sp := d.src.span(n)
		// Forms are costly to make, and an expression of that form begins with its bytes.
		begins := a.form[:strings.IndexByte(a.form+" ", ' ')]
		if seen[sp] || !strings.HasPrefix(string(d.src.text[sp.lo:min(sp.hi, sp.lo+len(begins))]), begins) {
			return true
		}
		if d.src.form(e) == a.form && a.allows(d.src.innermost(sp, stmts)) {
			seen[sp] = true
			found = append(found, target{src: d.src, core: sp, full: sp, indent: d.src.indent(sp.lo)})
		}
		return true
	})
	return found
}

func (d *decl) fields(a Anchor, stmts []*stmt) []target {
	var found []target
	ast.Inspect(d.node(), func(n ast.Node) bool {
		var list *ast.FieldList
		switch n := n.(type) {
		case *ast.StructType:
			list = n.Fields
		case *ast.InterfaceType:
			list = n.Methods
		default:
			return true
		}
		for _, f := range list.List {
			named := slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return id.Name == a.form })
			if sp := d.src.span(f); (named || f.Names == nil && baseName(f.Type) == a.form) && a.allows(d.src.innermost(sp, stmts)) {
				found = append(found, d.src.target(sp, d.src.indent(sp.lo), ";"))
			}
		}
		return true
	})
	return found
}

func (d *decl) keys(a Anchor, stmts []*stmt) []target {
	var found []target
	ast.Inspect(d.node(), func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, e := range lit.Elts {
			name := e
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				name = kv.Key
			}
			if sp := d.src.span(e); d.src.form(name) == a.form && a.allows(d.src.innermost(sp, stmts)) {
				found = append(found, d.src.target(sp, d.src.indent(sp.lo), ","))
			}
		}
		return true
	})
	return found
}

// target completes a place with its comments and its comma.
func (s *source) target(core span, indent, sep string) target {
	hi := core.hi
	if at := s.skipBlanks(hi); sep == "," && at < len(s.text) && s.text[at] == ',' {
		hi = at + 1
	}
	full := span{s.leading(core.lo, indent), s.trailing(hi)}
	whole := s.startsLine(full.lo) && s.endsLine(full.hi)
	return target{src: s, core: core, full: full, indent: indent, sep: sep, whole: whole}
}
