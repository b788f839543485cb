// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A command that a patch adds is built where it exists, and checked by that patch alone.
func TestAddedCommand(t *testing.T) {
	p := Product{Commands: []Command{{Package: "cmd/hall"}, {Package: "cmd/annex", Added: true}}}
	require.Equal(t, []string{"./cmd/hall"}, p.upstreams())

	work := t.TempDir()
	require.Equal(t, []string{"hall"}, names(p.in(work)), "a missing command of upstream fails the build")
	require.NoError(t, os.MkdirAll(filepath.Join(work, "cmd", "annex"), 0o700))
	require.Equal(t, []string{"hall", "annex"}, names(p.in(work)))
	require.Len(t, p.Commands, 2)
}
