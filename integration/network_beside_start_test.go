// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// What is made beside the ADD of a pod changes nothing for its network.

// requireHeldIfBeside waits until a program is held that runs beside the ADD. Stock runs none.
func requireHeldIfBeside(ctx context.Context, t *testing.T, hold *node.Hold) {
	t.Helper()
	if !runsOnStock {
		require.NoError(t, hold.Entered(ctx))
	}
}

// The pause container of a pod cannot be created, while a plugin is at the ADD: the plugin
// comes to its end, and its DEL gets the result.
func TestL7_ADDIsNotCutByAFailureBesideIt(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	ctx, c := withinAMinute(t), a.n.CRI()
	a.Says("ADD", fixture.Hangs+"; : >ended")
	a.Says("DEL", "cat >del; exec <del")
	create, err := a.n.HoldAt(node.Before("runc", "create"), "web")
	require.NoError(t, err)
	ran := inBackground(func() error { _, err := c.RunPod(ctx, c.Pod("web")); return err })
	a.RequireHangs()
	requireHeldIfBeside(ctx, t, create)
	if !runsOnStock {
		require.NoError(t, create.Fail())
		requireSoon(t, "the pause container to be removed", func(ctx context.Context) error {
			containers, err := a.n.Containerd().Containers(ctx)
			if err == nil && len(containers) > 0 {
				err = fmt.Errorf("%d are there", len(containers))
			}
			return err
		})
	}
	a.GoOn()
	if runsOnStock { // which comes there only now
		require.NoError(t, create.Entered(ctx))
		require.NoError(t, create.Fail())
	}
	err = requireEnds(t, ran, "RunPodSandbox")
	promise(t, "L7", "the error is that of the failure", keptOnStock, func(t require.TestingT) {
		assert.ErrorContains(t, err, "OCI runtime create failed")
	})
	promise(t, "L7", "the ADD came to its end", keptOnStock, func(t require.TestingT) {
		assert.FileExists(t, filepath.Join(a.Dir(), "ended"))
	})
	promise(t, "L7", "DEL gets its result", keptOnStock, func(t require.TestingT) {
		request, err := os.ReadFile(filepath.Join(a.Dir(), "del"))
		require.NoError(t, err)
		assert.Contains(t, string(request), "prevResult")
	})
	promise(t, "L7", "nothing is left", keptOnStock, func(t require.TestingT) { a.RequireNothingLeft(t) })
}

// The caller goes while a failure waits for the ADD, which is cut then, as on stock.
func TestL7_CallerWhoGoesCutsTheADDThatAFailureWaitsFor(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	c := a.n.CRI()
	a.Says("ADD", fixture.Hangs+"; : >ended")
	create, err := a.n.HoldAt(node.Before("runc", "create"), "web")
	require.NoError(t, err)
	ctx, leave := context.WithCancel(withinAMinute(t))
	ran := inBackground(func() error { _, err := c.RunPod(ctx, c.Pod("web")); return err })
	a.RequireHangs()
	requireHeldIfBeside(ctx, t, create)
	if !runsOnStock {
		require.NoError(t, create.Fail())
	}
	leave()
	require.Error(t, requireEnds(t, ran, "RunPodSandbox"))
	promise(t, "L7", "nothing is left, though the plugin hangs", keptOnStock, func(t require.TestingT) { a.RequireNothingLeft(t) })
	assert.NoFileExists(t, filepath.Join(a.Dir(), "ended"))
}

// A plugin of the chain sets a sysctl that containerd sets for each pod, at the end of the
// ADD: the pod has what containerd sets, as where the ADD comes first.
func TestL5_SysctlsOfAPodAreThoseOfItsSpecWhateverItsNetworkSets(t *testing.T) {
	t.Parallel()
	const port = "net/ipv4/ip_unprivileged_port_start"
	a := newAgent(t)
	ctx, c := withinAMinute(t), a.n.CRI()
	var found string
	p := plugin.New("10", "looks")
	p.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) (err error) {
		found, err = a.n.Sysctl(netns(call.Pod), port)
		return err
	})
	connect(t, a.n, p)
	a.WriteConfig("10-conformance.conflist", fmt.Sprintf(`{"cniVersion": "1.1.0", "name": "tuned", "plugins": [
		{"type": "ptp", "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.89.1.0/24"}]], "dataDir": %q}},
		{"type": "conformance-agent"},
		{"type": "tuning", "sysctl": {"net.ipv4.ip_unprivileged_port_start": "1024"}}]}`, filepath.Join(a.n.Folder(), "cni", "addresses")))
	requireSoon(t, "the network to be loaded", func(ctx context.Context) error { return a.HasLoaded(ctx, "tuned") })
	a.Says("ADD", fixture.Hangs)
	create, err := a.n.HoldAt(node.After("runc", "create"), "web")
	require.NoError(t, err)
	ran := inBackground(func() error { _, err := c.RunPod(ctx, c.Pod("web")); return err })
	a.RequireHangs()
	requireHeldIfBeside(ctx, t, create)
	a.GoOn()
	if runsOnStock {
		require.NoError(t, create.Entered(ctx))
	}
	require.NoError(t, create.Release())
	require.NoError(t, requireEnds(t, ran, "RunPodSandbox"))
	promise(t, "L5", "the pod has the sysctl of its spec", keptOnStock, func(t require.TestingT) {
		assert.Equal(t, "0", found)
	})
}

// Pods that come at once, before it is known that their network is slow, hold few shims.
func TestL22_BurstOfPodsOnASlowNetworkHoldsFewShims(t *testing.T) {
	t.Parallel()
	const pods, most = 20, 4
	a := newAgent(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	calls := countCalls(t, a.n, "bin/containerd-shim-runc-v2", "bin/runc")
	newLife(t, a.n, "before").End(t)
	before, createdBefore := calls.of(t, "containerd-shim-runc-v2", "start"), calls.of(t, "runc", "create")
	a.Says("ADD", fixture.Hangs)
	c, ran := a.n.CRI(), make([]<-chan error, pods)
	for i := range ran {
		ran[i] = inBackground(func() error { _, err := c.RunPod(ctx, c.Pod(fmt.Sprintf("pod%d", i))); return err })
	}
	requireSoon(t, "all to wait for the network", func(context.Context) error {
		if hung := a.TimesHung(); hung < pods {
			return fmt.Errorf("%d do", hung)
		}
		return nil
	})
	if !runsOnStock { // where no ADD has anything beside it
		requireSoon(t, "the pause containers of some to be created", func(context.Context) error {
			if created := calls.of(t, "runc", "create") - createdBefore; created < most {
				return fmt.Errorf("%d are", created)
			}
			return nil
		})
	}
	promise(t, "L22", "a slow network costs no shim for each pod", keptOnStock, func(t require.TestingT) {
		assert.LessOrEqual(t, calls.of(t, "containerd-shim-runc-v2", "start")-before, most)
	})
	a.GoOn()
	for _, r := range ran {
		require.NoError(t, <-r)
	}
	promise(t, "L22", "all come up when it answers", keptOnStock, func(t require.TestingT) {
		assert.Equal(t, pods, calls.of(t, "containerd-shim-runc-v2", "start")-before)
	})
}

// /proc/sys is read-only for containerd, but not for runc: pods become Ready, with their sysctls.
func TestL5_PodsComeUpWhereContainerdMayNotSetSysctls(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	ctx := withinAMinute(t)
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.ReadOnlySysctls())
	require.NoError(t, n.Boot(ctx))
	found := make(chan string, 1)
	p := plugin.New("10", "looks")
	p.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
		value, err := n.Sysctl(netns(call.Pod), "net/ipv4/ip_unprivileged_port_start")
		found <- value
		return err
	})
	connect(t, n, p)
	pod, err := n.CRI().RunPod(ctx, n.CRI().Pod("web"))
	promise(t, "L5", "a pod comes up, with the sysctls of its spec", keptOnStock, func(t require.TestingT) {
		require.NoError(t, err)
		assert.Equal(t, "0", <-found)
	})
	endPod(ctx, t, n, pod)
	requireNothingLeft(t, n)
}
