// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Shape says what a statement looks like. A statement has a shape by what is
// in itself: its expressions, and the header of an if (else ifs included), a
// for, a switch or a case. What is in the statement lists below it, bodies of
// function literals included, has shapes of its own.
type Shape struct {
	name  string
	match func(*stmt) bool
	err   error
}

// String renders the shape for errors.
func (s Shape) String() string { return s.name }

// shape makes a shape of expressions that a patch gives.
func shape(name string, exprs []string, match func(s *stmt, forms []string) bool) Shape {
	f, err := forms(exprs)
	if list := strings.Join(exprs, ", "); list != "" {
		name = strings.TrimSpace(name + " " + list)
	}
	return Shape{name: name, err: err, match: func(s *stmt) bool { return match(s, f) }}
}

// Call is a statement that calls fun, as "c.store.Add", in one of its own
// expressions. Type arguments of the call do not count.
func Call(fun string) Shape {
	return shape("call", []string{fun}, func(s *stmt, fun []string) bool {
		return slices.ContainsFunc(s.own, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return false
			}
			f := call.Fun
			switch inst := f.(type) {
			case *ast.IndexExpr:
				if s.form(inst.X) == fun[0] {
					return true
				}
			case *ast.IndexListExpr:
				f = inst.X
			}
			return s.form(f) == fun[0]
		})
	})
}

// Mentions is a statement that has expr in one of its own expressions.
func Mentions(expr string) Shape {
	return shape("mention of", []string{expr}, func(s *stmt, expr []string) bool {
		return slices.ContainsFunc(s.own, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			return ok && s.form(e) == expr[0]
		})
	})
}

// Assign is a statement that assigns to each of left, with = or an operator
// such as += or ++; it may do so in its header.
func Assign(left ...string) Shape {
	return assigns("assign", left, func(t token.Token) bool { return t != token.DEFINE })
}

// Define is a statement that defines each of left with :=, be it in its header.
func Define(left ...string) Shape {
	return assigns("define", left, func(t token.Token) bool { return t == token.DEFINE })
}

func assigns(name string, left []string, ok func(token.Token) bool) Shape {
	return shape(name, left, func(s *stmt, left []string) bool {
		return slices.ContainsFunc(s.own, func(n ast.Node) bool {
			var lhs []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				if ok(n.Tok) {
					lhs = n.Lhs
				}
			case *ast.IncDecStmt:
				if ok(n.Tok) {
					lhs = []ast.Expr{n.X}
				}
			case *ast.RangeStmt:
				if n.Key != nil && ok(n.Tok) {
					lhs = append(lhs, n.Key)
				}
				if n.Value != nil && ok(n.Tok) {
					lhs = append(lhs, n.Value)
				}
			}
			return len(lhs) > 0 && s.holds(lhs, left)
		})
	})
}

// holds tells whether each of forms is among exprs.
func (s *stmt) holds(exprs []ast.Expr, forms []string) bool {
	for _, f := range forms {
		if !slices.ContainsFunc(exprs, func(e ast.Expr) bool { return s.form(e) == f }) {
			return false
		}
	}
	return true
}

// Declare is a var, const or type statement that declares name.
func Declare(name string) Shape {
	return shape("declare", []string{name}, func(s *stmt, name []string) bool {
		d, ok := s.unlabelled().(*ast.DeclStmt)
		return ok && slices.ContainsFunc(d.Decl.(*ast.GenDecl).Specs, func(spec ast.Spec) bool {
			return slices.Contains(specNames(spec), name[0])
		})
	})
}

// If is an if statement with one of the conditions cond; none means any. An
// else if is no statement of a list, but part of the if before it.
func If(cond ...string) Shape {
	return shape("if", cond, func(s *stmt, cond []string) bool {
		n, ok := s.unlabelled().(*ast.IfStmt)
		return ok && s.oneOf(n.Cond, cond)
	})
}

// Range is a range loop over one of over; none means any.
func Range(over ...string) Shape {
	return shape("range", over, func(s *stmt, over []string) bool {
		n, ok := s.unlabelled().(*ast.RangeStmt)
		return ok && s.oneOf(n.X, over)
	})
}

// For is any other loop with one of the conditions cond; none means any, and
// "" is a loop without a condition.
func For(cond ...string) Shape {
	return shape("for", cond, func(s *stmt, cond []string) bool {
		n, ok := s.unlabelled().(*ast.ForStmt)
		return ok && s.oneOf(n.Cond, cond)
	})
}

// Switch is a switch on one of tag; none means any, and "" is a switch without
// a tag. The tag of a type switch is written as there: "v := x.(type)".
func Switch(tag ...string) Shape {
	return shape("switch", tag, func(s *stmt, tag []string) bool {
		switch n := s.unlabelled().(type) {
		case *ast.SwitchStmt:
			return s.oneOf(n.Tag, tag)
		case *ast.TypeSwitchStmt:
			return s.oneOf(n.Assign, tag)
		}
		return false
	})
}

// oneOf tells whether the form of n, which may be nil, is one of forms, or
// whether there are none.
func (s *stmt) oneOf(n ast.Node, forms []string) bool {
	if len(forms) == 0 {
		return true
	}
	f := ""
	if n != nil {
		f = s.form(n)
	}
	return slices.Contains(forms, f)
}

// Return is a return of exactly exprs; none means any, and a single "" is a
// return without results.
func Return(exprs ...string) Shape {
	return shape("return", exprs, func(s *stmt, exprs []string) bool {
		n, ok := s.unlabelled().(*ast.ReturnStmt)
		if !ok || len(exprs) == 0 {
			return ok
		}
		if len(exprs) == 1 && exprs[0] == "" {
			return len(n.Results) == 0
		}
		return slices.EqualFunc(n.Results, exprs, func(e ast.Expr, f string) bool { return s.form(e) == f })
	})
}

// Case is a clause of a switch or select that lists each of exprs; none means
// any. Case("default") is the default, and that of a select is written as there:
// "<-ctx.Done()".
func Case(exprs ...string) Shape {
	return shape("case", exprs, func(s *stmt, exprs []string) bool {
		switch n := s.node.(type) {
		case *ast.CaseClause:
			return s.holds(n.List, exprs) || n.List == nil && slices.Equal(exprs, []string{"default"})
		case *ast.CommClause:
			f := "default"
			if n.Comm != nil {
				f = s.form(n.Comm)
			}
			return len(exprs) == 0 || slices.Equal(exprs, []string{f})
		}
		return false
	})
}

// Defer is a defer statement.
func Defer() Shape { return kind[*ast.DeferStmt]("defer") }

// Go is a go statement.
func Go() Shape { return kind[*ast.GoStmt]("go") }

// Select is a select statement.
func Select() Shape { return kind[*ast.SelectStmt]("select") }

func kind[T ast.Stmt](name string) Shape {
	return shape(name, nil, func(s *stmt, _ []string) bool {
		_, ok := s.unlabelled().(T)
		return ok
	})
}
