// SPDX-License-Identifier: Apache-2.0

package edit

// Before puts text before each place.
func (sc Scope) Before(a Anchor, text string) Edit { return sc.insert(a, text, target.before) }

// After puts text after each place.
func (sc Scope) After(a Anchor, text string) Edit { return sc.insert(a, text, target.after) }

func (sc Scope) insert(a Anchor, text string, side func(target, string) (splice, error)) Edit {
	if a.kind != atTop {
		return sc.each(a, func(t target) (splice, error) { return side(t, text) })
	}
	return sc.edit(func(d *decl) ([]splice, error) {
		body, err := d.body()
		if err != nil {
			return nil, a.locate(err)
		}
		c, err := d.src.top(body).put(text)
		if err != nil {
			return nil, a.locate(err)
		}
		return []splice{c}, nil
	}, a.err)
}

func (t target) before(text string) (splice, error) {
	switch {
	case t.sep == "":
		_, err := joined(text)
		return insert(t.core.lo, text), err
	case t.whole:
		return t.src.above(t.full.lo, t.indent).put(t.element(text))
	}
	text, err := sameLine(t.bareElement(text))
	return insert(t.core.lo, text+t.sep+" "), err
}

func (t target) after(text string) (splice, error) {
	switch {
	case t.sep == "":
		_, err := joined(text)
		return insert(t.core.hi, text), err
	case t.whole:
		return t.src.below(t.full.hi, t.indent).put(t.element(text))
	}
	text, err := sameLine(t.bareElement(text))
	return insert(t.core.hi, t.sep+" "+text), err
}

// element returns text for lines of its own: elements of a literal end in a
// comma there.
func (t target) element(text string) string {
	if t.sep == "," {
		return withComma(text)
	}
	return text
}

// bareElement returns text for a place between others on their line.
func (t target) bareElement(text string) string {
	if t.sep == "," {
		return withoutComma(text)
	}
	return text
}
