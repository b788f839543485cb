// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// large is a file of about 2,000 lines.
func large() []byte {
	var src strings.Builder
	src.WriteString("package p\n\nimport (\n\t\"fmt\"\n)\n")
	for i := range 200 {
		fmt.Fprintf(&src, "\n// f%d prints.\nfunc f%d(n int) {\n\tfor i := range n {\n\t\tif i > %d {\n\t\t\tfmt.Println(i)\n\t\t}\n\t}\n}\n", i, i, i)
	}
	return []byte(src.String())
}

func manyEdits() (Patch, fstest.MapFS) {
	p := Patch{Slug: "many"}
	tree := fstest.MapFS{}
	for f := range 3 {
		path := fmt.Sprintf("f%d.go", f)
		tree[path] = &fstest.MapFile{Data: large()}
		for i := range 20 {
			p.Edits = append(p.Edits, In(path, Func(fmt.Sprintf("f%d", 10*i))).Before(Stmt(Call("fmt.Println")), "n++"))
		}
	}
	return p, tree
}

// Each edit works on the result of the edits before it, in each of the files.
func TestApplyManyEdits(t *testing.T) {
	p, tree := manyEdits()
	out, err := p.Apply(Series{}, tree, nil)
	require.NoError(t, err)
	require.Len(t, out, 3)
	for _, content := range out {
		require.Equal(t, 20, strings.Count(string(content), "\t\t\tn++\n\t\t\tfmt.Println(i)\n"))
	}
}

func BenchmarkApply60Edits(b *testing.B) {
	p, tree := manyEdits()
	for b.Loop() {
		if _, err := p.Apply(Series{}, tree, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// A file that goes upstream has that project's notice in place of our first line.
func TestBroughtFilesCarryTheNotice(t *testing.T) {
	own := fstest.MapFS{
		"go.mod":              {Data: []byte("module example.org/ours\n")},
		"files/brings/a/a.go": {Data: []byte(spdx + "\n// Package a is.\npackage a\n")},
	}
	p := Patch{Slug: "brings", Module: "app"}
	s := Series{Modules: []Module{{"app", "example.org/app"}}, Patches: []Patch{p}}
	out, err := p.Apply(s, fstest.MapFS{}, own)
	require.NoError(t, err)
	require.Equal(t, notice+"\n// Package a is.\npackage a\n", string(out["a/a.go"]))
}
