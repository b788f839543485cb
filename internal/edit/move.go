// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
)

// MoveBefore moves a run of statements, with its comments, before dest, which
// is in the same declaration.
func (sc Scope) MoveBefore(a, dest Anchor) Edit {
	return sc.move(a, dest, func(t target) point { return t.src.above(t.full.lo, t.indent) })
}

// MoveAfter moves a run of statements, with its comments, after dest, which is
// in the same declaration.
func (sc Scope) MoveAfter(a, dest Anchor) Edit {
	return sc.move(a, dest, func(t target) point { return t.src.below(t.full.hi, t.indent) })
}

func (sc Scope) move(a, dest Anchor, side func(target) point) Edit {
	return sc.edit(func(d *decl) ([]splice, error) {
		from, err := d.run(a)
		if err != nil {
			return nil, err
		}
		to, err := d.dest(dest, from, side)
		if err != nil {
			return nil, err
		}
		// The statements move with their indent and newline.
		text := string(d.src.text[d.src.lineStart(from.full.lo):d.src.lineEnd(from.full.hi)])
		text = to.pre + shift(text, from.indent, to.indent) + to.post
		return []splice{replace(to.lo, to.hi, text), d.src.cutLines(from.full)}, nil
	}, a.err, dest.err)
}

// run returns the one run of whole lines of statements that the anchor matches.
func (d *decl) run(a Anchor) (target, error) {
	if a.kind != atStmt {
		return target{}, a.locate(errors.New("only statements can be moved"))
	}
	if a.times != 1 {
		return target{}, a.locate(errors.New("only one run of statements can be moved"))
	}
	found, err := d.targets(a)
	if err != nil {
		return target{}, err
	}
	if t := found[0]; !t.whole {
		return target{}, a.locate(fmt.Errorf("line %d: shares its line with code that stays", d.src.line(t.core.lo)))
	}
	return found[0], nil
}

// dest returns the point to which from is moved.
func (d *decl) dest(a Anchor, from target, side func(target) point) (point, error) {
	if a.kind != atStmt || a.times != 1 {
		return point{}, a.locate(errors.New("the destination of a move is one statement"))
	}
	found, err := d.targets(a)
	if err != nil {
		return point{}, err
	}
	t := found[0]
	if !t.whole {
		return point{}, a.locate(fmt.Errorf("line %d: shares its line with other code", d.src.line(t.core.lo)))
	}
	// A statement may move out of one that is around it.
	around := t.full != from.full && t.full.lo <= from.full.lo && from.full.hi <= t.full.hi
	if !around && t.full.lo < from.full.hi && from.full.lo < t.full.hi {
		return point{}, a.locate(fmt.Errorf("line %d: overlaps the moved statements", d.src.line(t.core.lo)))
	}
	return side(t), nil
}
