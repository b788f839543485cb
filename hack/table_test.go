// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

func TestWhy(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"one sentence", "A plugin is missed.", "A plugin is missed."},
		{"the first of two", "A plugin is missed. Tell it.", "A plugin is missed."},
		{"over two lines", "A plugin\nis missed. Tell it.", "A plugin is missed."},
		{"a stop inside", "A pod, e.g. one in CNI ADD, is missed in v2.4.2. Tell it.", "A pod, e.g. one in CNI ADD, is missed in v2.4.2."},
		{"a paragraph without a stop", "A plugin is missed\n\nTell it.", "A plugin is missed"},
		{"a question", "Who is told? Everybody.", "Who is told?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, why(edit.Patch{Body: test.body}))
		})
	}
}

// Only what is between the markers is replaced.
func TestInReadme(t *testing.T) {
	renewed, err := inReadme([]byte("a\n<!-- patches -->\nold\n<!-- /patches -->\nb\n"), "new\n")
	require.NoError(t, err)
	require.Equal(t, "a\n<!-- patches -->\nnew\n<!-- /patches -->\nb\n", string(renewed))

	_, err = inReadme([]byte("a\n"), "new\n")
	require.EqualError(t, err, "no line <!-- patches -->")
	_, err = inReadme([]byte("<!-- patches -->\na\n"), "new\n")
	require.EqualError(t, err, "no line <!-- /patches -->")
}

// A cell ends at a bar, unless it is escaped.
func TestMarkdownTableEscapes(t *testing.T) {
	table := markdownTable(edit.Series{Patches: []edit.Patch{{Module: "m", Slug: "s", Status: edit.Carry, Body: "a | b"}}})
	require.Contains(t, table, "| `m/s` | Carry |  | a \\| b |")
}
