// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Shape describes a statement by its own expressions, and the header of an if (else ifs
// included), a for, a switch or a case. The statements in the lists below it, bodies of function
// literals included, have shapes of their own.
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

// Define is a statement that defines each of left with :=, in its header or not.
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

// holds reports whether each of forms is among exprs.
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

// If is an if statement with the condition cond. An else if is part of the if before it.
func If(cond string) Shape {
	return shape("if", []string{cond}, func(s *stmt, cond []string) bool {
		n, ok := s.unlabelled().(*ast.IfStmt)
		return ok && s.form(n.Cond) == cond[0]
	})
}

// Range is a range loop over over.
func Range(over string) Shape {
	return shape("range", []string{over}, func(s *stmt, over []string) bool {
		n, ok := s.unlabelled().(*ast.RangeStmt)
		return ok && s.form(n.X) == over[0]
	})
}

// Return is a return of exactly exprs.
func Return(exprs ...string) Shape {
	return shape("return", exprs, func(s *stmt, exprs []string) bool {
		n, ok := s.unlabelled().(*ast.ReturnStmt)
		return ok && slices.EqualFunc(n.Results, exprs, func(e ast.Expr, f string) bool { return s.form(e) == f })
	})
}

// Defer is a defer statement.
func Defer() Shape {
	return shape("defer", nil, func(s *stmt, _ []string) bool {
		_, ok := s.unlabelled().(*ast.DeferStmt)
		return ok
	})
}
