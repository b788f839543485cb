// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Only the text between the markers is replaced.
func TestCut(t *testing.T) {
	b, err := cut("a\n<!-- patches -->\nold\n<!-- /patches -->\nb\n", "patches")
	require.NoError(t, err)
	require.Equal(t, block{"a\n<!-- patches -->\n", "old\n", "<!-- /patches -->\nb\n"}, b)

	_, err = cut("a\n", "patches")
	require.EqualError(t, err, "no line <!-- patches -->")
	_, err = cut("<!-- patches -->\na\n", "patches")
	require.EqualError(t, err, "no line <!-- /patches -->")
}

// A cell ends at a bar, unless it is escaped.
func TestCells(t *testing.T) {
	require.Equal(t, "| a \\| b | | c |\n", line("a | b", "", "c"))
	require.Equal(t, []string{"a | b", "", "c"}, cells(line("a | b", "", "c")))
	require.Nil(t, cells("no table\n"))
}

func TestPatchTable(t *testing.T) {
	table := PatchTable(edit.Series{Patches: []edit.Patch{{Module: "m", Slug: "s", Status: edit.Carry, Body: "a | b"}}})
	require.Contains(t, table, "| `m/s` | Carry | | a \\| b |\n")
}
