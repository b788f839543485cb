// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// onStmt checks an edit of a run of statements: it inserts text, or removes the run.
func (c fuzzCase) onStmt(edit func(Anchor) Edit, text string, takes bool) made {
	a, lo, hi, ok := c.pick(c.place, c.more)
	if !ok {
		return made{}
	}
	return made{edit(a), func(t *testing.T, src, out string) {
		sameOutside(t, src, out, lo, hi)
		if !takes {
			inserted(t, src, out, text)
		}
	}}
}

// move checks that a move only moves: the file loses and gains nothing.
func (c fuzzCase) move(op func(Scope, Anchor, Anchor) Edit) made {
	a, lo, hi, ok := c.pick(c.place, c.more)
	b, lo2, hi2, ok2 := c.pick(c.dest, 0)
	if !ok || !ok2 {
		return made{}
	}
	return made{op(c.scope(), a, b), func(t *testing.T, src, out string) {
		sameOutside(t, src, out, min(lo, lo2), max(hi, hi2))
		require.Equal(t, sortedTokens(src), sortedTokens(out))
	}}
}

func (c fuzzCase) onlyDecl(t *testing.T, src, out string) {
	lo, hi := c.lines()
	sameOutside(t, src, out, lo, hi)
}

func (c fuzzCase) onDecl(e Edit, text string) made {
	return made{e, func(t *testing.T, src, out string) {
		c.onlyDecl(t, src, out)
		inserted(t, src, out, text)
	}}
}

func (c fuzzCase) renamed(t *testing.T, src, out string) {
	require.Equal(t, strings.Count(src, "\n"), strings.Count(out, "\n"))
	was, is := tokens(src), tokens(out)
	require.Len(t, is, len(was))
	for i := range is {
		if was[i] != is[i] && !strings.HasPrefix(was[i], "//") {
			require.Equal(t, []string{c.in.name, "renamed"}, []string{was[i], is[i]})
		}
	}
}

// imports checks that nothing outside the import declarations changed.
func (c fuzzCase) imports(t *testing.T, src, out string) {
	lo := c.s.line(c.s.offset(c.s.file.Name.End()))
	hi := c.tail(lo)
	for i, gen := range c.s.imports() {
		if first := c.s.line(c.s.offset(gen.Pos())); i == 0 || first < lo {
			lo = min(lo, c.commented(first))
		}
		hi = max(hi, c.tail(c.s.line(c.s.span(gen).hi)))
	}
	sameOutside(t, src, out, lo, hi)
}

// sameOutside checks that the lines before lo and after hi, blank ones next to
// them aside, are the same, byte for byte.
func sameOutside(t *testing.T, src, out string, lo, hi int) {
	all := strings.SplitAfter(src, "\n")
	head := strings.TrimRight(strings.Join(all[:lo-1], ""), "\n")
	tail := strings.TrimLeft(strings.Join(all[min(hi, len(all)):], ""), "\n")
	require.True(t, strings.HasPrefix(out, head), "changed before line %d:\n%s---\n%s", lo, src, out)
	require.True(t, strings.HasSuffix(out, tail), "changed after line %d:\n%s---\n%s", hi, src, out)
	require.GreaterOrEqual(t, len(out), len(head)+len(tail), "lost lines around %d to %d:\n%s---\n%s", lo, hi, src, out)
}

// inserted checks that out is src with the tokens of text in one place, with a
// separator for text on a line with others, and that no raw string changed.
func inserted(t *testing.T, src, out, text string) {
	was, is, add := tokens(src), tokens(out), tokens(text)
	n := 0
	for n < len(was) && was[n] == is[n] {
		n++
	}
	for ; n >= 0; n-- {
		rest := is[n:]
		for _, first := range [][]string{add, append([]string{";"}, add...), append(slices.Clone(add), ";")} {
			if len(rest) >= len(first) && slices.Equal(rest[:len(first)], first) && slices.Equal(rest[len(first):], was[n:]) {
				return
			}
		}
	}
	require.Failf(t, "not the source with the text inserted", "%q:\n%s---\n%s", text, src, out)
}

// tokens returns the tokens of a piece of source: comments without their indents, everything
// else byte for byte.
func tokens(src string) []string {
	items, _ := scan([]byte(src))
	var all []string
	for _, it := range items {
		if it.tok == token.COMMENT {
			it.lit = strings.Join(strings.Fields(it.lit), " ")
		}
		all = append(all, it.lit)
	}
	return all
}

func sortedTokens(src string) []string {
	all := tokens(src)
	slices.Sort(all)
	return all
}
