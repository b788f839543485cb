// SPDX-License-Identifier: Apache-2.0

package edit

import "go/ast"

// stmt is a statement of a statement list: of a block, a case or comm clause, or the clauses of a
// switch or select.
type stmt struct {
	src   *source
	node  ast.Stmt
	up    *stmt      // the statement in which its list is, nil in a declaration's own
	list  []*stmt    // the list that has it
	index int        // its place there
	own   []ast.Node // its nodes without those of statement lists
	lists []*stmt    // statements of its lists, without the lists in those
}

// statements returns the statements of a declaration, in source order.
func statements(src *source, decl ast.Node) []*stmt {
	w := &walk{src: src}
	ast.Inspect(decl, func(n ast.Node) bool { return w.visit(n, nil) })
	return w.all
}

type walk struct {
	src *source
	all []*stmt
}

// visit adds the statements below n, which is part of up itself, and reports whether to go on
// below n.
func (w *walk) visit(n ast.Node, up *stmt) bool {
	if block, ok := n.(*ast.BlockStmt); ok {
		w.list(block.List, up)
		return false
	}
	if up != nil && n != nil {
		up.own = append(up.own, n)
	}
	return true
}

func (w *walk) list(nodes []ast.Stmt, up *stmt) {
	list := make([]*stmt, len(nodes))
	for i, n := range nodes {
		list[i] = &stmt{src: w.src, node: n, up: up, list: list, index: i}
	}
	if up != nil {
		up.lists = append(up.lists, list...)
	}
	for _, s := range list {
		w.all = append(w.all, s)
		w.within(s)
	}
}

func (w *walk) within(s *stmt) {
	inspect := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool { return w.visit(n, s) })
	}
	switch n := s.node.(type) {
	case *ast.CaseClause:
		for _, e := range n.List {
			inspect(e)
		}
		w.list(n.Body, s)
	case *ast.CommClause:
		if n.Comm != nil {
			inspect(n.Comm)
		}
		w.list(n.Body, s)
	default:
		inspect(n)
	}
}

// unlabelled returns the statement behind its labels.
func (s *stmt) unlabelled() ast.Stmt {
	n := s.node
	for {
		l, ok := n.(*ast.LabeledStmt)
		if !ok {
			return n
		}
		n = l.Stmt
	}
}

// form returns the source form of a part of the statement; "" for none.
func (s *stmt) form(n ast.Node) string { return s.src.form(n) }

// form returns the source form of a node; "" for none.
func (s *source) form(n ast.Node) string {
	sp := s.span(n)
	// Source that was parsed scans.
	f, _ := form(s.text[sp.lo:sp.hi])
	return f
}
