// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"go/format"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// FuzzEdit makes any edit anywhere in any source. An edit that is accepted leaves source that
// parses and is gofmt-clean, changes only what it names, and does the same to a file with CRLF.
// The lines that it may change are computed here, apart from the code under test.
func FuzzEdit(f *testing.F) {
	for i, src := range sources(f) {
		for op := range ops {
			for n, text := range ops[op].text {
				f.Add(src, text, uint8(op), uint8(i+n), uint8(i+2*n), uint8(n), uint8(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, text string, op, decl, place, dest, more uint8) {
		if src, err := format.Source(src); err == nil {
			tryEdit(t, src, text, int(op), int(decl), int(place), int(dest), int(more))
		}
	})
}

// TestEveryPlace makes the fuzzed edits at every place of the archives' sources.
func TestEveryPlace(t *testing.T) {
	accepted := make([]int, len(ops))
	for _, src := range sources(t) {
		src, err := format.Source(src)
		if err != nil {
			continue // an archive about that
		}
		s, err := parse("a.go", src)
		require.NoError(t, err)
		for decl := range len(declarations(s)) {
			for op := range ops {
				for _, text := range ops[op].text {
					for place := range ops[op].places {
						// If the destination does not count, this varies the rest.
						dest := place + len(text)
						if tryEdit(t, src, text, op, decl, place, dest, dest%3) {
							accepted[op]++
						}
					}
				}
			}
		}
	}
	for op, n := range accepted {
		require.NotZero(t, n, "operation %d is never accepted", op)
	}
}

// sources returns the Go files that go into the archives' patches.
func sources(t testing.TB) [][]byte {
	archives, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	var all [][]byte
	for _, file := range archives {
		ar, err := txtar.ParseFile(file)
		require.NoError(t, err)
		for _, in := range ar.Files {
			if strings.HasSuffix(in.Name, ".go") && !strings.HasPrefix(in.Name, "want/") {
				all = append(all, in.Data)
			}
		}
	}
	return all
}

// tryEdit makes one edit of a gofmt-clean source, and reports whether it was
// accepted.
func tryEdit(t *testing.T, src []byte, text string, op, decl, place, dest, more int) bool {
	s, err := parse("a.go", src)
	if err != nil {
		return false
	}
	in := declarations(s)
	if len(in) == 0 {
		return false
	}
	c := fuzzCase{s: s, in: in[decl%len(in)], text: text, place: place, dest: dest, more: more}
	if c.d, err = s.find(c.in); err != nil {
		return false
	}
	made := ops[op%len(ops)].make(c)
	if made.check == nil {
		return false
	}
	out, ok := applied(t, made.edit, src)
	if !ok {
		return false
	}
	crlf, ok := applied(t, made.edit, withCRLF(true, src))
	require.True(t, ok, "accepted also with CRLF")
	require.Equal(t, string(withCRLF(true, out)), string(crlf), "the same with CRLF")
	clean, err := format.Source(out)
	require.NoError(t, err, "result must parse:\n%s", out)
	require.Equal(t, string(clean), string(out), "result must be gofmt-clean")
	made.check(t, string(src), string(out))
	return true
}

// applied applies one edit as a patch, and reports whether it was accepted.
func applied(t *testing.T, e Edit, src []byte) ([]byte, bool) {
	tree := fstest.MapFS{"a.go": {Data: src}}
	out, err := Patch{Slug: "fuzz", Edits: []Edit{e}}.Apply(Series{}, tree, nil)
	if err != nil {
		require.Nil(t, out)
		return nil, false
	}
	return out["a.go"], true
}
