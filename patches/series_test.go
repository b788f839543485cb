// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/internal/layout"
)

// A patch without a reason, a reference or an end is refused.
func TestSeriesIsValid(t *testing.T) {
	require.NoError(t, Series.Validate())
}

// A patch's file, its Go value and its folder have its name, and it takes
// nothing from the file of another.
func TestLayout(t *testing.T) {
	require.NoError(t, layout.Check(Series, os.DirFS("..")))
}

// The core is a handful of patches.
func TestCoreIsSmall(t *testing.T) {
	patches := 0
	for _, p := range Series.Core().Patches {
		if p.ForUpstream() {
			patches++
			require.Equal(t, edit.Upstream, p.Status, p.Name())
		}
	}
	require.Equal(t, 10, patches)
}
