// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// FreezeShim stops the shim of a pod, which then answers nobody, until thaw is
// called or the test ends.
func FreezeShim(t *testing.T, n *node.Node, pod string) (thaw func()) {
	t.Helper()
	pid, err := n.Shim(pod)
	require.NoError(t, err)
	require.NoError(t, unix.Kill(pid, unix.SIGSTOP))
	thaw = func() { _ = unix.Kill(pid, unix.SIGCONT) } // it may have been killed by then
	t.Cleanup(thaw)
	return thaw
}

// stuckText stands in the place of runc: an update waits for the end of a pipe's
// writer. Killed, it leaves behind a process that holds its output, so that the
// shim waits on, as for a process that waits for the kernel.
const stuckText = `#!/bin/sh
for word; do
	[ "$word" != update ] || cat '@PIPE@' >&2
done
exec '@PROGRAM@' "$@"
`

// StuckUpdates are changes of containers' resources that hang in runc.
type StuckUpdates struct {
	pipe string
	end  *os.File // open once an update has come
}

// StickUpdates makes the changes that are to come hang.
func StickUpdates(t *testing.T, n *node.Node) *StuckUpdates {
	t.Helper()
	s := &StuckUpdates{pipe: filepath.Join(n.Folder(), "update")}
	require.NoError(t, unix.Mkfifo(s.pipe, 0o600))
	StandIn(t, n, "bin/runc", stuckText, "@PIPE@", s.pipe)
	t.Cleanup(s.Release)
	return s
}

// RequireEntered waits until an update hangs.
func (s *StuckUpdates) RequireEntered(t *testing.T) {
	t.Helper()
	require.NoError(t, wait.Until(WithinAMinute(t), "an update of a container", func(context.Context) (err error) {
		s.end, err = os.OpenFile(s.pipe, os.O_WRONLY|unix.O_NONBLOCK, 0) // only now has the pipe a reader
		return err
	}))
}

// Release lets the update that hangs go on.
func (s *StuckUpdates) Release() {
	if s.end != nil {
		_ = s.end.Close() // a second time, it is closed
	}
}

// UpdateInBackground changes the resources of a container.
func UpdateInBackground(t *testing.T, n *node.Node, container string) <-chan error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return InBackground(func() error {
		_, err := n.CRI().Runtime.UpdateContainerResources(ctx, &runtime.UpdateContainerResourcesRequest{
			ContainerId: container, Linux: &runtime.LinuxContainerResources{CpuShares: 100},
		})
		return err
	})
}
