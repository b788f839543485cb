// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a kernel does not tell is said to be unknown, and is no error.
func TestFirstWord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loadavg")
	require.Equal(t, "unknown", firstWord(file))
	require.NoError(t, os.WriteFile(file, []byte("\n"), 0o600))
	require.Equal(t, "unknown", firstWord(file))
	require.NoError(t, os.WriteFile(file, []byte("1.25 0.50 0.25 2/300 4711\n"), 0o600))
	require.Equal(t, "1.25", firstWord(file))
}
