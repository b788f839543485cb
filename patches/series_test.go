// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

// A patch without a reason, a reference or an end is rejected.
func TestSeriesIsValid(t *testing.T) {
	require.NoError(t, Series.Validate())
}

// All of a pull request is in its folder, and nothing else looks like one.
func TestInPlace(t *testing.T) {
	require.NoError(t, Series.InPlace(os.DirFS("..")))
}

// The core is a handful of patches: ten, and fewer as upstream takes them.
func TestCoreIsSmall(t *testing.T) {
	patches := 0
	for _, p := range Series.Core().Patches {
		if p.ForUpstream() {
			patches++
			require.Equal(t, edit.Upstream, p.Status, p.Name())
		}
	}
	require.LessOrEqual(t, patches, 10)
}
