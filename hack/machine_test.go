// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/moby/sys/mountinfo"
	"github.com/stretchr/testify/require"
)

// A value that the kernel does not have is unknown, and no error.
func TestFirstWord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loadavg")
	require.Equal(t, "unknown", firstWord(file))
	require.NoError(t, os.WriteFile(file, []byte("\n"), 0o600))
	require.Equal(t, "unknown", firstWord(file))
	require.NoError(t, os.WriteFile(file, []byte("1.25 0.50 0.25 2/300 4711\n"), 0o600))
	require.Equal(t, "1.25", firstWord(file))
}

func TestFavorDynmods(t *testing.T) {
	mount := func(options string) *mountinfo.Info { return &mountinfo.Info{VFSOptions: options} }
	require.False(t, favorDynmods(nil))
	require.False(t, favorDynmods([]*mountinfo.Info{mount("rw,cpu"), mount("rw,nofavordynmods")}))
	require.True(t, favorDynmods([]*mountinfo.Info{mount("rw,cpu"), mount("rw,favordynmods")}))
}
