// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/host"
)

func TestSweepRemovesWhatAKilledRunLeft(t *testing.T) {
	t.Parallel()
	alive := StartNode(t)
	run := exec.CommandContext(t.Context(), os.Args[0])
	run.Env = append(os.Environ(), LeaveANode+"="+Pause)
	run.Stderr = os.Stderr
	out, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	var folder string
	for lines := bufio.NewScanner(out); folder == "" && lines.Scan(); {
		folder, _ = strings.CutPrefix(lines.Text(), LeaveANode+" ")
	}
	require.NoError(t, run.Process.Kill())
	require.Error(t, run.Wait())
	cgroups := func() (found []string) {
		// Directly below the root with cgroup v2, below each controller's root with v1.
		for _, root := range []string{"", "*"} {
			paths, err := filepath.Glob(filepath.Join("/sys/fs/cgroup", root, "hookline-"+filepath.Base(folder)))
			require.NoError(t, err)
			found = append(found, paths...)
		}
		return found
	}
	require.DirExists(t, folder)
	require.NotEmpty(t, cgroups())

	require.NoError(t, host.Sweep(WithinAMinute(t), ""))

	assert.NoDirExists(t, folder)
	assert.Empty(t, cgroups())
	NewLife(t, alive, "untouched").End(t)
	RequireNothingLeft(t, alive)
}
