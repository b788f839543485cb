// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"go/ast"
	"go/token"
	"strings"
)

// Drop removes the declaration with its comments. In a group it removes only the one name, and
// the group with its last name.
func (sc Scope) Drop() Edit {
	return sc.edit(func(d *decl) ([]splice, error) {
		if names := specNames(d.spec); len(names) > 1 {
			return nil, errors.New("is declared together with others: " + strings.Join(names, ", "))
		}
		if d.isCounted() {
			return nil, errors.New("values of constants after it would change")
		}
		node := d.node()
		if d.grouped() && len(d.gen.Specs) == 1 {
			node = d.gen
		}
		c, err := d.src.around(node).cut()
		return []splice{c}, err
	})
}

// isCounted reports whether constants after d get their value from their place in the group: by
// iota, or from the line above.
func (d *decl) isCounted() bool {
	if d.gen == nil || d.gen.Tok != token.CONST {
		return false
	}
	counted := false
	for _, spec := range d.gen.Specs {
		if spec.Pos() <= d.spec.Pos() {
			continue
		}
		counted = counted || spec.(*ast.ValueSpec).Values == nil
		ast.Inspect(spec, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			counted = counted || ok && id.Name == "iota"
			return true
		})
	}
	return counted
}

// InsertBefore puts new declarations above the declaration and its comments. If the declaration
// is a name of a group, the text is lines of that group.
func (sc Scope) InsertBefore(text string) Edit {
	return sc.edit(func(d *decl) ([]splice, error) {
		t, err := d.whole()
		if err != nil {
			return nil, err
		}
		p := d.src.above(t.full.lo, t.indent)
		if !d.grouped() {
			p.apart(d.src)
		}
		c, err := p.put(text)
		return []splice{c}, err
	})
}

// apart sets the text off by blank lines, unless they exist.
func (p *point) apart(s *source) {
	if p.lo > 0 && !s.blankLine(s.lineStart(p.lo-1)) {
		p.pre += "\n"
	}
	if p.hi < len(s.text) && !s.blankLine(p.hi) {
		p.post += "\n"
	}
}

// whole returns the lines of the declaration.
func (d *decl) whole() (target, error) {
	t := d.src.around(d.node())
	if !t.whole {
		return t, errors.New("shares its line with other code")
	}
	return t, nil
}

// around returns the range of a node with its comments.
func (s *source) around(n ast.Node) target {
	sp := s.span(n)
	return s.target(sp, s.indent(sp.lo), ";")
}
