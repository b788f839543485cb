// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/proc"
)

// example builds an example plugin.
func example(t *testing.T, name string) (program string) {
	t.Helper()
	return BuildProgram(t, "../example/"+name)
}

// runExample runs an example plugin until the returned function is called. Its output goes to
// prints, if that is not nil.
func runExample(t *testing.T, n *node.Node, program string, prints *os.File, args ...string) (stop func()) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"-socket", n.NRISocket()}, args...)...)
	var said strings.Builder
	cmd.Stderr = &said
	if prints != nil {
		cmd.Stdout = prints
	}
	exited := make(chan error, 1)
	require.NoError(t, proc.StartBound(cmd, func() { exited <- cmd.Wait() }))
	ended := false
	stop = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := <-exited; err != nil {
			t.Errorf("the example ended with %v: %s", err, said.String())
		}
	}
	t.Cleanup(stop)
	return stop
}
