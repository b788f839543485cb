// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Pods end whatever has become of the configuration that they were set up with.
func TestN3_PodsEndWhateverBecameOfTheirConfiguration(t *testing.T) {
	t.Parallel()
	stuck := onStock("the pod cannot be stopped")
	for name, s := range map[string]struct {
		change func(a *agent)
		stock  breach
		gone   bool // DEL cannot be of a configuration that is loaded
	}{
		"removed": {(*agent).unloadNetwork, stuck, true},
		"made invalid": {func(a *agent) {
			a.writeConfig("10-net.conflist", `{"cniVersion": "1.1.0", "name": "blue", "plugins": [`)
			a.requireSoon("nothing to be loaded", func(ctx context.Context) error { return a.hasLoaded(ctx, "") })
		}, stuck, true},
		"replaced by another network": {func(a *agent) { a.loadNetwork("green", "10.90.0.0/24") }, onStock("DEL is that of the other network, the address leaks"), true},
		"removed and put back": {func(a *agent) {
			a.unloadNetwork()
			a.loadNetwork("blue", "10.89.0.0/24")
		}, keptOnStock, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t)
			first, second := a.runPod("first"), a.runPod("second")
			require.Len(t, a.addressesTaken("blue"), 2)
			s.change(a)
			promise(t, "N3", "the first of two pods ends, and its address is freed", s.stock, func(t require.TestingT) {
				a.requirePodEnds(t, first)
				assert.Len(t, a.addressesTaken("blue"), 1)
			})
			promise(t, "N3", "the second ends, and nothing is left of both", s.stock, func(t require.TestingT) {
				a.requirePodEnds(t, second)
				a.requireNoAddressTaken(t, "blue", "green")
				requireNothingLeft(t, a.n)
			})
			if !s.gone {
				return
			}
			promise(t, "N3", "their DEL is that of libcni's cached attachments, and counted", onStock("it is not counted"), func(t require.TestingT) {
				counted, err := a.n.Metrics(withinAMinute(a.T), "containerd_cri_network_cached_dels_total")
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{"": 2}, counted)
			})
		})
	}
}

// One network takes the place of another, twice, while pods of all three run.
func TestN3_EachPodEndsWithItsOwnNetwork(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	var pods []string
	networks := []string{"blue", "green", "red"}
	leaks := onStock("its address leaks")
	stock := []breach{leaks, leaks, keptOnStock} // the last one is loaded
	for i, name := range networks {
		a.loadNetwork(name, []string{"10.89.0.0/24", "10.90.0.0/24", "10.91.0.0/24"}[i])
		pods = append(pods, a.runPod(name))
		require.Len(t, a.addressesTaken(name), 1)
	}
	for i, pod := range pods {
		promise(t, "N3", "a pod of "+networks[i]+" ends with its own network, and its address is freed", stock[i], func(t require.TestingT) {
			a.requirePodEnds(t, pod)
			assert.Empty(t, a.addressesTaken(networks[i]))
		})
	}
	promise(t, "N3", "nothing is left of the pods of three networks", onStock("addresses of the networks before leak"), func(t require.TestingT) { requireNothingLeft(t, a.n) })
}

// The runtime was restarted since, and comes up without the configuration.
func TestN3_PodsEndWithoutTheirConfigurationAfterARestart(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]struct {
		change func(a *agent)
		stock  breach
	}{
		"replaced": {func(a *agent) { a.loadNetwork("green", "10.90.0.0/24") }, keptOnStock},
		"removed":  {(*agent).unloadNetwork, onStock("it cannot be stopped")},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t)
			pod := a.runPod("web")
			s.change(a)
			require.NoError(t, a.n.Kill(withinAMinute(t)))
			require.NoError(t, a.n.Boot(withinAMinute(t)))
			promise(t, "N3", "a pod of before a restart ends without its configuration", s.stock, func(t require.TestingT) {
				a.requirePodEnds(t, pod)
			})
			promise(t, "N3", "its address is freed, and nothing is left", onStock("the address leaks"), func(t require.TestingT) {
				a.requireNoAddressTaken(t, "blue")
				requireNothingLeft(t, a.n)
			})
		})
	}
}

// A network is added to that of a pod which runs, and fails: the pod is not on it.
func TestN3_PodEndsThoughANetworkThatItIsNotOnFails(t *testing.T) {
	t.Parallel()
	a := newAgent(t, "max_conf_num = 2")
	pod := a.runPod("web")
	a.writeConfig("20-more.conflist", `{"cniVersion": "1.1.0", "name": "more", "plugins": [{"type": "agent"}]}`)
	a.requireSoon("both to be loaded", func(ctx context.Context) error { return a.hasLoaded(ctx, "more") })
	a.says("DEL", `[ "$CNI_IFNAME" = eth1 ] && { `+fails+`; }`)
	promise(t, "N3", "a pod ends though DEL fails of a network that it is not on", onStock("it cannot be stopped"), func(t require.TestingT) {
		a.requirePodEnds(t, pod)
	})
	promise(t, "N3", "its address is freed, and nothing is left", onStock("they stay with it"), func(t require.TestingT) {
		a.requireNoAddressTaken(t, "blue")
		requireNothingLeft(t, a.n)
	})
	promise(t, "N3", "the log says of no leak", keptOnStock, func(t require.TestingT) {
		log, err := a.n.Log()
		require.NoError(t, err)
		assert.NotContains(t, log, "may have leaked")
	})
}

// A pod that was stopped is removed, though the network that has come since
// fails: it never had the pod.
func TestN3_StoppedPodIsRemovedThoughANetworkThatItIsNotOnFails(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	pod := a.runPod("web")
	a.loadNetwork("green", "10.90.0.0/24")
	require.NoError(t, a.n.CRI().StopPod(withinAMinute(t), pod))
	a.says("DEL", fails)
	promise(t, "N3", "a stopped pod is removed though DEL fails of a network that it is not on", onStock("it is not"), func(t require.TestingT) {
		a.requirePodEnds(t, pod)
	})
	promise(t, "N3", "its address is freed, and nothing is left", onStock("they stay with it"), func(t require.TestingT) {
		a.requireNoAddressTaken(t, "blue", "green")
		requireNothingLeft(t, a.n)
	})
	promise(t, "N3", "the log says of no leak", keptOnStock, func(t require.TestingT) {
		log, err := a.n.Log()
		require.NoError(t, err)
		assert.NotContains(t, log, "may have leaked", "its address was freed by the stop")
	})
}

// Nothing is left to go by: the pod goes, and the log says what may have leaked.
func TestN3_PodIsRemovedWithoutADELIfNothingIsKnown(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	pod := a.runPod("web")
	ip := a.addressesTaken("blue")[0]
	require.NoError(t, os.RemoveAll(a.n.Attachments()))
	a.unloadNetwork()
	promise(t, "N3", "a pod of which libcni has no cached attachment is removed without a successful DEL", onStock("it cannot be stopped"), func(t require.TestingT) {
		a.requirePodEnds(t, pod)
	})
	promise(t, "N3", "the log says what it may have leaked", onStock("it does not"), func(t require.TestingT) {
		log, err := a.n.Log()
		require.NoError(t, err)
		assert.Contains(t, log, "its addresses ["+ip+"] may have leaked")
	})
	promise(t, "N3", "pods that are removed without a successful DEL are counted", onStock("they are not"), func(t require.TestingT) {
		counted, err := a.n.Metrics(withinAMinute(a.T), "containerd_cri_network_removed_without_del_total")
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{"": 1}, counted)
	})
}
