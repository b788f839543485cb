// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/crossvet"
)

// A finding that upstream has as often, on any line of the file, is not ours.
func TestWithout(t *testing.T) {
	finding := func(line, says string) crossvet.Finding {
		return crossvet.Finding{File: "a.go", Line: line, Says: says}
	}
	known := []crossvet.Finding{finding("1:1", "x"), finding("2:1", "x"), finding("3:1", "y")}
	require.Empty(t, without([]crossvet.Finding{finding("7:1", "x"), finding("8:1", "x")}, known))
	require.Equal(t, []crossvet.Finding{finding("9:1", "x"), finding("9:1", "z")},
		without([]crossvet.Finding{finding("7:1", "x"), finding("8:1", "x"), finding("9:1", "x"), finding("9:1", "z")}, known))
}
