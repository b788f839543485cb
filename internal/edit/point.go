// SPDX-License-Identifier: Apache-2.0

package edit

import "errors"

// point is a place where text can be put.
type point struct {
	span          // that the text replaces: at most blanks
	indent string // of the text
	pre    string // before the text
	post   string // after it
	inline bool   // the text shares its line
}

// put returns the change that puts text there.
func (p point) put(text string) (splice, error) {
	if p.inline {
		text, err := sameLine(text)
		return replace(p.lo, p.hi, p.pre+text+p.post), err
	}
	text, err := lines(text)
	return replace(p.lo, p.hi, p.pre+reindent(text, p.indent)+p.post), err
}

// above is the point above the line of at.
func (s *source) above(at int, indent string) point {
	at = s.lineStart(at)
	return point{span: span{at, at}, indent: indent}
}

// below is the point below the line of at.
func (s *source) below(at int, indent string) point {
	at = s.lineEnd(at)
	p := point{span: span{at, at}, indent: indent}
	if s.text[at-1] != '\n' {
		p.pre = "\n"
	}
	return p
}

// body returns the offsets of the braces of the function's body.
func (d *decl) body() (span, error) {
	if d.fn == nil || d.fn.Body == nil {
		return span{}, errors.New("is not a function with a body")
	}
	return span{d.src.offset(d.fn.Body.Lbrace), d.src.offset(d.fn.Body.Rbrace)}, nil
}

// inside returns the range between two braces without the white space at its ends; ok is false
// if they enclose only white space.
func (s *source) inside(braces span) (in span, ok bool) {
	in = span{braces.lo + 1, braces.hi}
	for in.lo < in.hi && isSpace(s.text[in.lo]) {
		in.lo++
	}
	for in.lo < in.hi && isSpace(s.text[in.hi-1]) {
		in.hi--
	}
	return in, in.lo < in.hi
}

// top returns the point at the start between two braces.
func (s *source) top(braces span) point {
	in, ok := s.inside(braces)
	switch at := s.trailing(braces.lo + 1); {
	case !ok:
		return s.empty(braces)
	case s.endsLine(at):
		return s.below(at, s.indent(braces.hi)+"\t")
	}
	return point{span: span{in.lo, in.lo}, post: "; ", inline: true}
}

// bottom returns the point at the end between two braces. Code that shares a line with them gets
// a line of its own.
func (s *source) bottom(braces span) point {
	in, ok := s.inside(braces)
	if ok && s.startsLine(braces.hi) {
		return s.above(braces.hi, s.indent(braces.hi)+"\t")
	}
	p := s.empty(braces)
	if ok {
		p.pre += p.indent + string(s.text[in.lo:in.hi]) + "\n"
	}
	return p
}

// empty returns the point between two braces with nothing between them.
func (s *source) empty(braces span) point {
	indent := s.indent(braces.hi)
	return point{span: span{braces.lo + 1, braces.hi}, pre: "\n", indent: indent + "\t", post: indent}
}
