// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"sort"
)

// leading returns where the comment of the code at lo begins: the comment lines directly above
// it, with its indent, and a comment before it on its line. Deeper lines belong to the code above.
func (s *source) leading(lo int, indent string) int {
	first := sort.Search(len(s.comments), func(i int) bool { return s.comments[i].lo >= lo })
	own := s.indent(lo)
	for i := first - 1; i >= 0; i-- {
		c := s.comments[i]
		if c.hi > lo {
			break
		}
		between := s.text[c.hi:lo]
		if len(bytes.TrimSpace(between)) > 0 {
			break
		}
		switch bytes.Count(between, []byte("\n")) {
		case 0:
		case 1:
			if in := s.indent(c.lo); !s.startsLine(c.lo) || in != indent && in != own {
				return lo
			}
		default:
			return lo
		}
		lo = c.lo
	}
	return lo
}

// trailing returns where the comments end that follow the code at hi on its line. Comments that
// more code follows do not count.
func (s *source) trailing(hi int) int {
	at := hi
	first := sort.Search(len(s.comments), func(i int) bool { return s.comments[i].lo >= hi })
	for _, c := range s.comments[first:] {
		if c.lo != s.skipBlanks(at) {
			break
		}
		at = c.hi
	}
	if s.endsLine(at) {
		return at
	}
	return hi
}

// codeEnd returns the last byte of code on the line that ends before at, 0 if
// there is none.
func (s *source) codeEnd(at int) byte {
	lo := s.lineStart(at - 1)
	i := sort.Search(len(s.comments), func(i int) bool { return s.comments[i].lo >= lo })
	hi := at
	if i < len(s.comments) && s.comments[i].lo < at {
		hi = s.comments[i].lo
	}
	line := bytes.TrimSpace(s.text[lo:hi])
	if len(line) == 0 {
		return 0
	}
	return line[len(line)-1]
}
