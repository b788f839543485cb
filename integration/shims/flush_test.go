// SPDX-License-Identifier: Apache-2.0

package shims

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// A shim that cannot publish its events runs on for a while after its shutdown. Meanwhile the next
// task of the same container has a shim of its own, and keeps it.
func TestL15_ContainerThatIsStartedAgainOutlivesAShimWithEvents(t *testing.T) {
	t.Parallel()
	n := StartNode(t, func(o *node.Options) {
		o.Config = usualSockets
	})
	ctx := namespaces.WithNamespace(WithinAMinute(t), elsewhere)
	c := newForeign(ctx, t, n, "events")
	found, err := filepath.Glob(filepath.Join(n.Folder(), "*.ttrpc"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, os.Rename(found[0], found[0]+".real"))
	hangs, err := net.Listen("unix", found[0]) // never accepts a connection
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = hangs.Close()
		_ = os.Rename(found[0]+".real", found[0])
	})
	task, err := startForeign(ctx, c)
	require.NoError(t, err)
	before, err := n.Shim(c.ID())
	require.NoError(t, err)
	killed := time.Now()
	killForeign(ctx, t, task)
	again, errAgain := startForeign(ctx, c)
	requireShimEnds(t, before)
	waited := time.Since(killed)
	Promise(t, "L15", "a container that is started again outlives a shim that still publishes", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, errAgain)
		require.NoError(t, unix.Kill(int(again.Pid()), 0))
		require.FileExists(t, socketOf(t, n, c.ID()))
		killForeign(ctx, t, again)
	})
	Promise(t, "L15", "a shim waits five seconds for its events to be accepted", OnStock("it ends and drops them"), func(t require.TestingT) {
		require.GreaterOrEqual(t, waited, 5*time.Second)
	})
}
