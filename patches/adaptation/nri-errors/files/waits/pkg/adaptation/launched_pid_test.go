// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A launched plugin has the pid of its process, not that of the runtime.
func TestPidOfALaunchedPlugin(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "10-waits"), []byte("#!/bin/sh\nexec sleep 60\n"), 0o755))
	p, err := (&Adaptation{metrics: &noopMetrics{}}).newLaunchedPlugin(dir, "10", "waits", "")
	require.NoError(t, err)
	defer p.close()
	defer p.stop()
	require.Equal(t, p.cmd.Process.Pid, p.pid)
	require.NotEqual(t, os.Getpid(), p.pid)
}
