// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Line ends outside the edit stay as they are, even if a file mixes them.
func TestApplyMixedLineEnds(t *testing.T) {
	src := "package p\r\n\nfunc f() {\n\ta()\r\n\tb()\n}\r\n\n"
	out, err := In("a.go", Func("f")).After(Stmt(Call("a")), "x()\ny()").Apply([]byte(src))
	require.NoError(t, err)
	require.Equal(t, "package p\r\n\nfunc f() {\n\ta()\r\n\tx()\r\n\ty()\r\n\tb()\n}\r\n\n", string(out))

	src = strings.Replace(src, "package p\r\n", "package p\n", 1)
	out, err = In("a.go", Func("f")).After(Stmt(Call("a")), "x()\r\ny()").Apply([]byte(src))
	require.NoError(t, err)
	require.Equal(t, "package p\n\nfunc f() {\n\ta()\r\n\tx()\n\ty()\n\tb()\n}\r\n\n", string(out))
}

// A carriage return that ends no line would shift the parser's positions.
func TestApplyCarriageReturn(t *testing.T) {
	e := In("a.go", Func("f")).Before(Stmt(Call("a")), "b()")
	_, err := e.Apply([]byte("package p\n\n/* x\rx */\nfunc f() {\n\ta()\n}\n"))
	require.EqualError(t, err, "a.go: func f: source before the edit: line 3: carriage return within a line")
}

// A file need not end in a newline for edits at its end.
func TestApplyNoFinalNewline(t *testing.T) {
	out, err := In("a.go", Type("t")).AddField("x int").Apply([]byte("package p\n\ntype t struct {\n}"))
	require.NoError(t, err)
	require.Equal(t, "package p\n\ntype t struct {\n\tx int\n}", string(out))
}

func TestApplyNoOperation(t *testing.T) {
	_, err := Edit{}.Apply([]byte("package p\n"))
	require.EqualError(t, err, "edit without an operation")
}

func TestForm(t *testing.T) {
	for a, b := range map[string]string{
		"f(a, b)":                     "f(\n\ta, // a\n\tb,\n)",
		"retErr != nil":               "retErr!=nil",
		"func() { a(); b() }":         "func() {\n\ta()\n\tb()\n}",
		"T{a: `x y`, b: []int{1,2,}}": "T { a : `x y` , b : []int{1,2} }",
	} {
		x, err := form([]byte(a))
		require.NoError(t, err)
		y, err := form([]byte(b))
		require.NoError(t, err)
		require.Equal(t, x, y)
	}
	x, err := form([]byte("a - -b"))
	require.NoError(t, err)
	y, err := form([]byte("a --b"))
	require.NoError(t, err)
	require.NotEqual(t, x, y, "white space parts tokens")
}
