// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"strings"
)

// Replace replaces each range, with the comments that belong to it, by text.
func (sc Scope) Replace(a Anchor, text string) Edit {
	return sc.each(a, func(t target) (splice, error) { return t.replace(text) })
}

func (t target) replace(text string) (splice, error) {
	switch {
	case t.sep == "":
		text, err := joined(text)
		text = strings.TrimPrefix(reindent(text, t.indent), t.indent)
		return replace(t.core.lo, t.core.hi, text), err
	case t.whole:
		text, err := lines(t.element(text))
		return replace(t.src.lineStart(t.full.lo), t.src.lineEnd(t.full.hi), reindent(text, t.indent)), err
	}
	text, err := sameLine(t.bareElement(text))
	return replace(t.core.lo, t.core.hi, text), err
}

// Delete removes each range, with the comments that belong to it and a blank line
// that would be one too many.
func (sc Scope) Delete(a Anchor) Edit { return sc.each(a, target.cut) }

func (t target) cut() (splice, error) {
	s := t.src
	switch {
	case t.sep == "":
		return splice{}, errors.New("an expression cannot be deleted: replace the code around it")
	case t.whole:
		return s.cutLines(t.full), nil
	}
	// On a line with others, one of the separators around it is removed, too.
	lo, hi := t.core.lo, s.skipBlanks(t.core.hi)
	for lo > 0 && (s.text[lo-1] == ' ' || s.text[lo-1] == '\t') {
		lo--
	}
	switch {
	case strings.HasPrefix(string(s.text[hi:]), t.sep):
		return replace(t.core.lo, s.skipBlanks(hi+1), ""), nil
	case strings.HasSuffix(string(s.text[:lo]), t.sep):
		return replace(lo-1, t.core.hi, ""), nil
	}
	return replace(lo, hi, ""), nil
}

// cutLines removes the lines of a range, with a blank line that is one too many: at the start or
// end of the block around it, or next to another blank line.
func (s *source) cutLines(r span) splice {
	lo, hi := s.lineStart(r.lo), s.lineEnd(r.hi)
	opens := strings.IndexByte("{(:", s.codeEnd(lo)) >= 0
	blank := s.blankLine(s.lineStart(max(lo-1, 0)))
	next := s.skipBlanks(hi)
	closes := next == len(s.text) || s.text[next] == '}' || s.text[next] == ')'
	switch {
	case (opens || blank) && s.blankLine(hi):
		return replace(lo, s.lineEnd(hi), "")
	case blank && closes:
		return replace(s.lineStart(lo-1), hi, "")
	}
	return replace(lo, hi, "")
}
