// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
)

// Anchor names a place in a declaration, and how many times it must be there.
type Anchor struct {
	kind   anchorKind
	shape  Shape  // of a statement
	form   string // of an expression or key; the name of a field
	name   string // for errors
	more   int    // statements that follow in the range
	within *Shape
	times  int
	err    error
}

type anchorKind int

const (
	atStmt anchorKind = iota
	atExpr
	atField
	atKey
	atTop
)

// Stmt is a statement of a statement list with the given shape, with the
// comment lines directly above it and the comment behind it.
func Stmt(s Shape) Anchor {
	return Anchor{kind: atStmt, shape: s, name: s.name, times: 1}.fail(s.err)
}

// Expr is an expression by its source form: white space, comments and trailing
// commas do not count.
func Expr(expr string) Anchor { return formed(atExpr, expr, expr) }

// Field is a struct field, also an embedded one, or a method of an interface,
// with its comments.
func Field(name string) Anchor {
	return Anchor{kind: atField, form: name, name: "field " + name, times: 1}
}

// Key is an element of a composite literal, with its comments, by the source
// form of its key, or of itself where it has no key.
func Key(name string) Anchor { return formed(atKey, name, "key "+name) }

func formed(kind anchorKind, expr, name string) Anchor {
	a := Anchor{kind: kind, name: name, times: 1}
	f, err := forms([]string{expr})
	if err == nil && f[0] == "" {
		err = errors.New("empty expression")
	}
	if err != nil {
		return a.fail(err)
	}
	a.form = f[0]
	return a
}

// Top is the start of a function's body. It is for Before and After.
func Top() Anchor { return Anchor{kind: atTop, name: "top", times: 1} }

// And extends the range over the n statements that follow in the same list.
func (a Anchor) And(n int) Anchor {
	if n < 1 {
		return a.fail(fmt.Errorf("And(%d): want 1 or more", n))
	}
	a.more = n
	return a.only(atStmt, "And")
}

// Times sets the number of matches; an edit applies to each of them. Without
// it there must be one.
func (a Anchor) Times(n int) Anchor {
	if n < 1 {
		return a.fail(fmt.Errorf("Times(%d): want 1 or more", n))
	}
	a.times = n
	return a.only(atKey, "Times")
}

// Within keeps the places that lie, at any depth, below a statement of that
// shape. An expression also lies within the statement it is of.
func (a Anchor) Within(s Shape) Anchor {
	a.within = &s
	a.name += " within " + s.name
	return a.only(atKey, "Within").fail(s.err)
}

// As gives the place a name for errors.
func (a Anchor) As(name string) Anchor {
	a.name = name
	return a
}

// only fails the anchor if it is of a kind beyond last.
func (a Anchor) only(last anchorKind, what string) Anchor {
	if a.kind > last {
		return a.fail(fmt.Errorf("%s does not apply", what))
	}
	return a
}

// fail keeps the first error for the edit that uses the anchor.
func (a Anchor) fail(err error) Anchor {
	if err != nil && a.err == nil {
		a.err = a.locate(err)
	}
	return a
}

func (a Anchor) locate(err error) error { return fmt.Errorf("anchor %q: %w", a.name, err) }
