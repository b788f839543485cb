// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The settings that the host cannot provide are removed; all others stay.
func TestRewrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(file, []byte(`{
		"process": {
			"args": ["/sbin/init"],
			"oomScoreAdj": -500,
			"capabilities": {
				"bounding": ["CAP_SYS_ADMIN", "CAP_SYS_RESOURCE"],
				"permitted": ["CAP_SYS_RESOURCE", "CAP_KILL"]
			}
		},
		"hostname": "node"
	}`), 0o600))
	require.NoError(t, rewrite(file, bundle))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"process": {
			"args": ["/sbin/init"],
			"oomScoreAdj": 0,
			"capabilities": {"bounding": ["CAP_SYS_ADMIN"], "permitted": ["CAP_KILL"]}
		},
		"hostname": "node"
	}`, string(text))
}

func TestValue(t *testing.T) {
	args := []string{"--root", "/r", "create", "--bundle", "/b", "id"}
	require.Equal(t, "/b", value(args, "--bundle", "-b"))
	require.Empty(t, value(args, "--process", "-p"))
	require.Empty(t, value(nil, "--bundle"))
}
