// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Steps that run beside a pod's ADD change nothing for its network.

// requireHeldIfBeside waits until a program is held that runs beside the ADD. On stock none does.
func requireHeldIfBeside(ctx context.Context, t *testing.T, hold *node.Hold) {
	t.Helper()
	if !RunsOnStock {
		require.NoError(t, hold.Entered(ctx))
	}
}

// The pause container of a pod cannot be created while a plugin runs the ADD: the ADD completes,
// and the DEL receives its result.
func TestL7_ADDIsNotCutByAFailureBesideIt(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	ctx, c := WithinAMinute(t), a.N.CRI()
	a.Says("ADD", Hangs+"; : >ended")
	a.Says("DEL", "cat >del; exec <del")
	create, err := a.N.HoldAt(node.Before("runc", "create"), "web")
	require.NoError(t, err)
	ran := InBackground(func() error { _, err := c.RunPod(ctx, c.Pod("web")); return err })
	a.RequireHangs()
	requireHeldIfBeside(ctx, t, create)
	if !RunsOnStock {
		require.NoError(t, create.Fail())
		RequireSoon(t, "the pause container to be removed", func(ctx context.Context) error {
			containers, err := a.N.Containerd().Containers(ctx)
			if err == nil && len(containers) > 0 {
				err = fmt.Errorf("%d exist", len(containers))
			}
			return err
		})
	}
	a.GoOn()
	if RunsOnStock { // stock reaches this step only now
		require.NoError(t, create.Entered(ctx))
		require.NoError(t, create.Fail())
	}
	err = RequireEnds(t, ran, "RunPodSandbox")
	Promise(t, "L7", "the error is that of the pause container", KeptOnStock, func(t require.TestingT) {
		assert.ErrorContains(t, err, "OCI runtime create failed")
	})
	Promise(t, "L7", "the ADD completes", KeptOnStock, func(t require.TestingT) {
		assert.FileExists(t, filepath.Join(a.Dir(), "ended"))
	})
	Promise(t, "L7", "DEL receives its result", KeptOnStock, func(t require.TestingT) {
		request, err := os.ReadFile(filepath.Join(a.Dir(), "del"))
		require.NoError(t, err)
		assert.Contains(t, string(request), "prevResult")
	})
	Promise(t, "L7", "nothing is left", KeptOnStock, func(t require.TestingT) { a.RequireNothingLeft(t) })
}

// The caller cancels while a failure waits for the ADD, which is then killed, as on stock.
func TestL7_CanceledCallCutsTheADDThatAFailureWaitsFor(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	c := a.N.CRI()
	a.Says("ADD", Hangs+"; : >ended")
	create, err := a.N.HoldAt(node.Before("runc", "create"), "web")
	require.NoError(t, err)
	ctx, leave := context.WithCancel(WithinAMinute(t))
	ran := InBackground(func() error { _, err := c.RunPod(ctx, c.Pod("web")); return err })
	a.RequireHangs()
	requireHeldIfBeside(ctx, t, create)
	if !RunsOnStock {
		require.NoError(t, create.Fail())
	}
	leave()
	require.Error(t, RequireEnds(t, ran, "RunPodSandbox"))
	Promise(t, "L7", "nothing is left, though the plugin hangs", KeptOnStock, func(t require.TestingT) { a.RequireNothingLeft(t) })
	assert.NoFileExists(t, filepath.Join(a.Dir(), "ended"))
}

// A plugin of the chain sets, at the end of the ADD, a sysctl that containerd sets for each pod:
// the pod has containerd's value, as if the ADD came first.
func TestL5_SysctlsOfAPodAreThoseOfItsSpecWhateverItsNetworkSets(t *testing.T) {
	t.Parallel()
	const port = "net/ipv4/ip_unprivileged_port_start"
	a := StartAgent(t)
	ctx, c := WithinAMinute(t), a.N.CRI()
	var found string
	p := plugin.New("10", "looks")
	p.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) (err error) {
		found, err = a.N.Sysctl(NetworkNamespace(call.Pod), port)
		return err
	})
	Connect(t, a.N, p)
	a.WriteConfig("10-conformance.conflist", fmt.Sprintf(`{"cniVersion": "1.1.0", "name": "tuned", "plugins": [
		{"type": "ptp", "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.89.1.0/24"}]], "dataDir": %q}},
		{"type": "conformance-agent"},
		{"type": "tuning", "sysctl": {"net.ipv4.ip_unprivileged_port_start": "1024"}}]}`, filepath.Join(a.N.Folder(), "cni", "addresses")))
	RequireSoon(t, "the network to be loaded", func(ctx context.Context) error { return a.HasLoaded(ctx, "tuned") })
	a.Says("ADD", Hangs)
	create, err := a.N.HoldAt(node.After("runc", "create"), "web")
	require.NoError(t, err)
	ran := InBackground(func() error { _, err := c.RunPod(ctx, c.Pod("web")); return err })
	a.RequireHangs()
	requireHeldIfBeside(ctx, t, create)
	a.GoOn()
	if RunsOnStock {
		require.NoError(t, create.Entered(ctx))
	}
	require.NoError(t, create.Release())
	require.NoError(t, RequireEnds(t, ran, "RunPodSandbox"))
	Promise(t, "L5", "the pod has the sysctl of its spec", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, "0", found)
	})
}

// Pods that are created at once, before their network is known to be slow, hold few shims.
func TestL22_BurstOfPodsOnASlowNetworkHoldsFewShims(t *testing.T) {
	t.Parallel()
	const pods, most = 20, 4
	a := StartAgent(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	calls := CountCalls(t, a.N, "bin/containerd-shim-runc-v2", "bin/runc")
	NewLife(t, a.N, "before").End(t)
	before, createdBefore := calls.Of(t, "containerd-shim-runc-v2", "start"), calls.Of(t, "runc", "create")
	a.Says("ADD", Hangs)
	c, ran := a.N.CRI(), make([]<-chan error, pods)
	for i := range ran {
		ran[i] = InBackground(func() error { _, err := c.RunPod(ctx, c.Pod(fmt.Sprintf("pod%d", i))); return err })
	}
	RequireSoon(t, "all pods to wait for the network", func(context.Context) error {
		if hung := a.TimesHung(); hung < pods {
			return fmt.Errorf("%d wait", hung)
		}
		return nil
	})
	if !RunsOnStock { // on stock nothing runs beside an ADD
		RequireSoon(t, "some pause containers to be created", func(context.Context) error {
			if created := calls.Of(t, "runc", "create") - createdBefore; created < most {
				return fmt.Errorf("%d were created", created)
			}
			return nil
		})
	}
	Promise(t, "L22", "a slow network costs no shim for each pod", KeptOnStock, func(t require.TestingT) {
		assert.LessOrEqual(t, calls.Of(t, "containerd-shim-runc-v2", "start")-before, most)
	})
	a.GoOn()
	for _, r := range ran {
		require.NoError(t, <-r)
	}
	Promise(t, "L22", "all pods start when the network answers", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, pods, calls.Of(t, "containerd-shim-runc-v2", "start")-before)
	})
}

// /proc/sys is read-only for containerd, and not for runc: pods become Ready, with their sysctls.
func TestL5_PodsStartWhereContainerdMayNotSetSysctls(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx := WithinAMinute(t)
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.ReadOnlySysctls())
	require.NoError(t, n.Boot(ctx))
	found := make(chan string, 1)
	p := plugin.New("10", "looks")
	p.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
		value, err := n.Sysctl(NetworkNamespace(call.Pod), "net/ipv4/ip_unprivileged_port_start")
		found <- value
		return err
	})
	Connect(t, n, p)
	pod, err := n.CRI().RunPod(ctx, n.CRI().Pod("web"))
	Promise(t, "L5", "a pod starts, with the sysctls of its spec", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, err)
		assert.Equal(t, "0", <-found)
	})
	EndPod(ctx, t, n, pod)
	RequireNothingLeft(t, n)
}
