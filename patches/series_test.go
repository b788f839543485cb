// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

// No patch lacks a reason, a reference or a condition to drop it.
func TestSeriesIsValid(t *testing.T) {
	require.NoError(t, Series.Validate())
}

// Each pull request has all its files in its folder, and no other folder looks like one.
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
