// SPDX-License-Identifier: Apache-2.0

package script

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scripts run although other processes are started all the time. Without the lock one of the first
// ten did not run.
func TestScriptRunsAtOnce(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	t.Cleanup(func() {
		stop()
		others.Wait()
	})
	for range 8 {
		others.Go(func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "true").Run() // killed at the end
			}
		})
	}
	dir := t.TempDir()
	for i := range 50 {
		path := filepath.Join(dir, strconv.Itoa(i))
		require.NoError(t, Write(path, "#!/bin/sh\n"))
		require.NoError(t, exec.CommandContext(ctx, path).Run())
	}
}

func TestScriptTakesThePlaceOfALink(t *testing.T) {
	dir := t.TempDir()
	program, link := filepath.Join(dir, "program"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(program, []byte("binary"), 0o644))
	require.NoError(t, os.Symlink(program, link))
	require.NoError(t, Write(link, "#!/bin/sh\n"))
	kept, err := os.ReadFile(program)
	require.NoError(t, err)
	require.Equal(t, "binary", string(kept))
	require.NoError(t, exec.CommandContext(t.Context(), link).Run())
}

func TestScriptStandsInForAProgram(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	program, err := exec.LookPath("echo")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, link))
	require.NoError(t, StandIn(link, "#!/bin/sh\nexec '@PROGRAM@' @WORD@ \"$@\"\n", "@WORD@", "instead of"))
	said, err := exec.CommandContext(t.Context(), link, "echo").Output()
	require.NoError(t, err)
	require.Equal(t, "instead of echo\n", string(said))
	require.ErrorIs(t, StandIn(link, ""), syscall.EINVAL, "it is a script already")
}
