// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"errors"
	"go/token"
)

// Comment replaces the comment lines directly above each place, which must exist. Text is comment
// lines; empty text removes them.
func (sc Scope) Comment(a Anchor, text string) Edit {
	return sc.each(a, func(t target) (splice, error) { return t.comment(text) })
}

// Doc does the same for the comment lines above the declaration.
func (sc Scope) Doc(text string) Edit {
	return sc.edit(func(d *decl) ([]splice, error) {
		t, err := d.whole()
		if err != nil {
			return nil, err
		}
		c, err := t.comment(text)
		return []splice{c}, err
	})
}

func (t target) comment(text string) (splice, error) {
	s := t.src
	was := span{s.lineStart(t.full.lo), s.lineStart(t.core.lo)}
	switch {
	case was.lo == was.hi:
		return splice{}, errors.New("has no comment above it")
	case bytes.Contains(s.text[was.lo:was.hi], []byte("//go:")):
		return splice{}, errors.New("the comment above it has a directive")
	case text == "":
		return replace(was.lo, was.hi, ""), nil
	}
	text, err := commentLines(text)
	return replace(was.lo, was.hi, reindent(text, t.indent)), err
}

// commentLines checks that text has comments and nothing else.
func commentLines(text string) (string, error) {
	text, err := lines(text)
	if err != nil {
		return "", err
	}
	items, err := scan([]byte(text))
	for _, it := range items {
		if it.tok != token.COMMENT {
			return "", errors.New("text is more than a comment")
		}
	}
	return text, err
}
