// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
)

// source is one parsed Go file. All offsets are into text, where every line ends in a plain
// newline. Only splice handles CRLF: it maps offsets back to the bytes of the file.
type source struct {
	orig     []byte // the file's bytes
	text     []byte // the same with plain line ends
	crs      []int  // offsets in text of the newlines that are CRLF in orig
	crlf     bool   // the first line ends in CRLF, and so do inserted lines
	fset     *token.FileSet
	tok      *token.File
	file     *ast.File
	comments []span // in order
}

// span is a half-open range of offsets.
type span struct{ lo, hi int }

func parse(path string, orig []byte) (*source, error) {
	s := &source{orig: orig, fset: token.NewFileSet()}
	s.text, s.crs = plain(orig)
	if at := bytes.IndexByte(s.text, '\r'); at >= 0 {
		// The parser drops these from comments and raw strings, which shifts its positions.
		return nil, fmt.Errorf("line %d: carriage return within a line", s.line(at))
	}
	s.crlf = len(s.crs) > 0 && s.crs[0] == bytes.IndexByte(s.text, '\n')
	f, err := parser.ParseFile(s.fset, path, s.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s.file, s.tok = f, s.fset.File(f.FileStart)
	for _, g := range f.Comments {
		for _, c := range g.List {
			s.comments = append(s.comments, s.span(c))
		}
	}
	return s, nil
}

// plain returns src with plain line ends, and the offsets of those that were CRLF.
func plain(src []byte) ([]byte, []int) {
	if !bytes.Contains(src, []byte("\r\n")) {
		return src, nil
	}
	var crs []int
	text := make([]byte, 0, len(src))
	for i, c := range src {
		if c == '\r' && i+1 < len(src) && src[i+1] == '\n' {
			crs = append(crs, len(text))
			continue
		}
		text = append(text, c)
	}
	return text, crs
}

func (s *source) offset(p token.Pos) int { return s.tok.Offset(p) }

func (s *source) span(n ast.Node) span {
	lo, hi := s.offset(n.Pos()), s.offset(n.End())
	// An empty statement that is only implied ends where the next token begins.
	for hi > lo && isSpace(s.text[hi-1]) {
		hi--
	}
	return span{lo, hi}
}

// line returns the number of the line that holds the offset, from 1.
func (s *source) line(at int) int { return 1 + bytes.Count(s.text[:at], []byte("\n")) }

// lineStart returns the offset of the first byte of the line that holds at.
func (s *source) lineStart(at int) int { return bytes.LastIndexByte(s.text[:at], '\n') + 1 }

// lineEnd returns the offset behind the newline of the line that holds at.
func (s *source) lineEnd(at int) int {
	if n := bytes.IndexByte(s.text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(s.text)
}

// indent returns the white space that begins the line that holds at.
func (s *source) indent(at int) string {
	lo := s.lineStart(at)
	return string(s.text[lo:s.skipBlanks(lo)])
}

// skipBlanks returns the offset of the first byte from at on that is not a space or tab.
func (s *source) skipBlanks(at int) int {
	for at < len(s.text) && (s.text[at] == ' ' || s.text[at] == '\t') {
		at++
	}
	return at
}

// startsLine reports whether only white space precedes at on its line.
func (s *source) startsLine(at int) bool { return s.skipBlanks(s.lineStart(at)) >= at }

// endsLine reports whether only white space follows at on its line.
func (s *source) endsLine(at int) bool {
	at = s.skipBlanks(at)
	return at == len(s.text) || s.text[at] == '\n'
}

// blankLine reports whether the line that starts at lo is empty.
func (s *source) blankLine(lo int) bool { return lo < len(s.text) && s.endsLine(lo) }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// splice is one change: the bytes from lo to hi become text.
type splice struct {
	span
	text string
}

func replace(lo, hi int, text string) splice { return splice{span{lo, hi}, text} }

func insert(at int, text string) splice { return replace(at, at, text) }

// splice returns the file with the changes made; every other byte stays.
func (s *source) splice(changes []splice) ([]byte, error) {
	sort.SliceStable(changes, func(i, j int) bool { return changes[i].lo < changes[j].lo })
	var out bytes.Buffer
	done := 0
	for _, c := range changes {
		if c.lo < done {
			return nil, fmt.Errorf("line %d: ranges overlap", s.line(c.lo))
		}
		out.Write(s.orig[s.original(done):s.original(c.lo)])
		text := bytes.ReplaceAll([]byte(c.text), []byte("\r\n"), []byte("\n"))
		if s.crlf {
			text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		}
		out.Write(text)
		done = c.hi
	}
	out.Write(s.orig[s.original(done):])
	return out.Bytes(), nil
}

// original maps an offset in text to one in orig.
func (s *source) original(at int) int { return at + sort.SearchInts(s.crs, at) }
