// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Pods end whatever has become of the configuration that they were set up with.
func TestN3_DELWithoutTheConfiguration(t *testing.T) {
	const stuck = "the pod cannot be stopped"
	for name, s := range map[string]struct {
		change func(a *agent)
		breaks string
		gone   bool // DEL cannot be of a configuration that is loaded
	}{
		"removed": {(*agent).unloadNetwork, stuck, true},
		"made invalid": {func(a *agent) {
			a.writeConfig("10-net.conflist", `{"cniVersion": "1.1.0", "name": "blue", "plugins": [`)
			a.requireSoon("nothing to be loaded", func(ctx context.Context) error { return a.hasLoaded(ctx, "") })
		}, stuck, true},
		"replaced by another network": {func(a *agent) { a.loadNetwork("green", "10.90.0.0/24") }, "DEL is that of the other network, the address leaks", true},
		"removed and put back": {func(a *agent) {
			a.unloadNetwork()
			a.loadNetwork("blue", "10.89.0.0/24")
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t)
			first, second := a.runPod("first"), a.runPod("second")
			require.Len(t, a.addressesTaken("blue"), 2)
			s.change(a)
			holds(t, "N3", s.breaks, func(t require.TestingT) {
				a.requirePodEnds(t, first)
				assert.Len(t, a.addressesTaken("blue"), 1)
				a.requirePodEnds(t, second)
				a.requireNoAddressTaken(t, "blue", "green")
				requireNothingLeft(t, a.n)
				if s.gone {
					counted, err := a.n.Metrics(withinAMinute(a.T), "containerd_cri_network_kept_detaches_total")
					require.NoError(t, err)
					assert.Equal(t, map[string]float64{"": 2}, counted, "with what was kept of two ADDs")
				}
			})
		})
	}
}

// One network takes the place of another, twice, while pods of all three run.
func TestN3_EachPodEndsWithItsOwnNetwork(t *testing.T) {
	a := newAgent(t)
	var pods []string
	networks := []string{"blue", "green", "red"}
	for i, name := range networks {
		a.loadNetwork(name, []string{"10.89.0.0/24", "10.90.0.0/24", "10.91.0.0/24"}[i])
		pods = append(pods, a.runPod(name))
		require.Len(t, a.addressesTaken(name), 1)
	}
	stockBreaks(t, "N3", "addresses of the networks before leak", func(t require.TestingT) {
		for i, pod := range pods {
			a.requirePodEnds(t, pod)
			assert.Empty(t, a.addressesTaken(networks[i]))
		}
		requireNothingLeft(t, a.n)
	})
}

// The runtime was restarted since, and comes up without the configuration.
func TestN3_DELAfterARestart(t *testing.T) {
	for name, s := range map[string]struct {
		change func(a *agent)
		breaks string
	}{
		"replaced": {func(a *agent) { a.loadNetwork("green", "10.90.0.0/24") }, "the address leaks"},
		"removed":  {(*agent).unloadNetwork, "the pod cannot be stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t)
			pod := a.runPod("web")
			s.change(a)
			require.NoError(t, a.n.Kill(withinAMinute(t)))
			require.NoError(t, a.n.Boot(withinAMinute(t)))
			stockBreaks(t, "N3", s.breaks, func(t require.TestingT) {
				a.requirePodEnds(t, pod)
				a.requireNoAddressTaken(t, "blue")
				requireNothingLeft(t, a.n)
			})
		})
	}
}

// The runtime was killed in the middle of an ADD, of which nothing is kept, and
// comes up with another network: what may have leaked is said.
func TestN3_KilledInADD(t *testing.T) {
	a := newAgent(t)
	a.says("ADD", "printf x >>hangs; exec 3<>silent; exec read -r word <&3")
	c := a.n.CRI()
	config := c.Pod("web")
	go func() { _, _ = c.RunPod(context.Background(), config) }() // ends with the runtime
	a.requireSoon("the ADD to hang", func(context.Context) error {
		_, err := os.Stat(filepath.Join(a.dir, "hangs"))
		return err
	})
	require.Len(t, a.addressesTaken("blue"), 1)
	require.NoError(t, a.n.Kill(withinAMinute(t)))
	a.writeConfig("10-net.conflist", a.networkConfig("green", "10.90.0.0/24"))
	require.NoError(t, a.n.Boot(withinAMinute(t)))
	stockBreaks(t, "N3", "nothing says that an address leaked", func(t require.TestingT) {
		pods, err := a.n.CRI().Runtime.ListPodSandbox(withinAMinute(a.T), &runtime.ListPodSandboxRequest{})
		require.NoError(t, err)
		for _, pod := range pods.GetItems() {
			a.requirePodEnds(t, pod.GetId())
		}
		log, err := a.n.Log()
		require.NoError(t, err)
		assert.Contains(t, log, "may have leaked: its creation was cut")
	})
}

// DEL does not ask whether the network takes pods.
func TestN3_DELWhileStatusFails(t *testing.T) {
	for name, script := range map[string]string{"cannot add": takesNone, "degraded": degraded, "garbage": garbage} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t)
			pod := a.runPod("web")
			a.says("STATUS", script)
			a.requireNetworkDown(t, "")
			a.requirePodEnds(t, pod)
			a.requireNoAddressTaken(t, "blue")
		})
	}
}

// A plugin of the chain fails its ADD and its DEL: what those before it have
// taken is freed.
func TestN3_ChainThatFailedHalfWay(t *testing.T) {
	for name, script := range map[string]string{"fails": fails, "has nothing to delete": notFound} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t)
			a.says("ADD", fails)
			a.says("DEL", script)
			_, err := a.tryRunPod(a.n.CRI().Pod("web"))
			require.ErrorContains(t, err, "out of luck")
			stockBreaks(t, "N3", "the plugins before the one that failed get no DEL", func(t require.TestingT) {
				a.requireNoAddressTaken(t, "blue")
				requireNothingLeft(t, a.n)
			})
			a.says("ADD", "")
			a.says("DEL", "")
			a.requirePodEnds(t, a.runPod("web"))
		})
	}
}

// A pod is added to one of two networks, and cannot be taken off it at once: it
// is not forgotten.
func TestN3_OneOfTwoNetworksFails(t *testing.T) {
	a := newAgent(t, "max_conf_num = 2")
	a.writeConfig("20-more.conflist", `{"cniVersion": "1.1.0", "name": "more", "plugins": [{"type": "agent"}]}`)
	a.requireSoon("both to be loaded", func(ctx context.Context) error { return a.hasLoaded(ctx, "more") })
	a.says("ADD", `[ "$CNI_IFNAME" = eth1 ] && { `+fails+`; }`)
	a.says("DEL", `[ "$CNI_IFNAME" = eth0 ] && { `+fails+`; }`)
	_, err := a.tryRunPod(a.n.CRI().Pod("web"))
	require.ErrorContains(t, err, "out of luck")
	require.Len(t, a.addressesTaken("blue"), 1)
	a.says("DEL", "")
	stockBreaks(t, "N3", "the pod is forgotten and its address leaks", func(t require.TestingT) {
		pods, err := a.n.CRI().Runtime.ListPodSandbox(withinAMinute(a.T), &runtime.ListPodSandboxRequest{})
		require.NoError(t, err)
		require.Len(t, pods.GetItems(), 1)
		assert.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, pods.GetItems()[0].GetState())
		a.requirePodEnds(t, pods.GetItems()[0].GetId())
		a.requireNoAddressTaken(t, "blue")
		requireNothingLeft(t, a.n)
	})
}

// A network is added to that of a pod which runs, and fails: the pod is not on it.
func TestN3_NetworkAddedSince(t *testing.T) {
	a := newAgent(t, "max_conf_num = 2")
	pod := a.runPod("web")
	a.writeConfig("20-more.conflist", `{"cniVersion": "1.1.0", "name": "more", "plugins": [{"type": "agent"}]}`)
	a.requireSoon("both to be loaded", func(ctx context.Context) error { return a.hasLoaded(ctx, "more") })
	a.says("DEL", `[ "$CNI_IFNAME" = eth1 ] && { `+fails+`; }`)
	stockBreaks(t, "N3", "the pod cannot be stopped", func(t require.TestingT) {
		a.requirePodEnds(t, pod)
		a.requireNoAddressTaken(t, "blue")
		requireNothingLeft(t, a.n)
		log, err := a.n.Log()
		require.NoError(t, err)
		assert.NotContains(t, log, "may have leaked")
	})
}

// A pod that was stopped is removed, though the network that has come since
// fails: it never had the pod.
func TestN3_RemovalAfterAMigration(t *testing.T) {
	a := newAgent(t)
	pod := a.runPod("web")
	a.loadNetwork("green", "10.90.0.0/24")
	require.NoError(t, a.n.CRI().StopPod(withinAMinute(t), pod))
	a.says("DEL", fails)
	stockBreaks(t, "N3", "the pod is not removed while the other network fails", func(t require.TestingT) {
		a.requirePodEnds(t, pod)
		a.requireNoAddressTaken(t, "blue", "green")
		requireNothingLeft(t, a.n)
		log, err := a.n.Log()
		require.NoError(t, err)
		assert.NotContains(t, log, "may have leaked", "its address was freed by the stop")
	})
}

// Nothing is left to go by: the pod goes, and the log says what may have leaked.
func TestN3_LetGo(t *testing.T) {
	a := newAgent(t)
	pod := a.runPod("web")
	ip := a.addressesTaken("blue")[0]
	require.NoError(t, os.RemoveAll(a.n.Attachments()))
	a.unloadNetwork()
	stockBreaks(t, "N3", "the pod cannot be stopped", func(t require.TestingT) {
		a.requirePodEnds(t, pod)
		log, err := a.n.Log()
		require.NoError(t, err)
		assert.Contains(t, log, "its addresses ["+ip+"] may have leaked")
		counted, err := a.n.Metrics(withinAMinute(a.T), "containerd_cri_network_let_go_total")
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{"": 1}, counted)
	})
}

// All addresses are taken: new pods are refused with the plugin's words, old
// ones go, and then new ones come.
func TestN3_OutOfAddresses(t *testing.T) {
	a := newAgent(t)
	a.loadNetwork("tiny", "10.92.0.0/29")
	var pods []string
	for _, name := range []string{"a", "b", "c", "d", "e"} { // of 8: network, gateway and broadcast are none
		pods = append(pods, a.runPod(name))
	}
	for range 3 {
		_, err := a.tryRunPod(a.n.CRI().Pod("more"))
		require.ErrorContains(t, err, "no IP addresses available in range set")
	}
	assert.Len(t, a.addressesTaken("tiny"), len(pods))
	a.requirePodEnds(t, pods[0])
	pods[0] = a.runPod("more")
	for _, pod := range pods {
		a.requirePodEnds(t, pod)
	}
	a.requireNoAddressTaken(t, "tiny")
	requireNothingLeft(t, a.n)
}

// Addresses of pods that are gone are freed at start, where that is wanted.
func TestN3_GarbageOfNetworksAtStart(t *testing.T) {
	for name, s := range map[string]struct {
		settings            []string
		cut, lost, collects bool
	}{
		"wanted":               {settings: []string{"gc_on_start = true"}, collects: true},
		"not said":             {},
		"what is kept is cut":  {settings: []string{"gc_on_start = true"}, cut: true},
		"what is kept is lost": {settings: []string{"gc_on_start = true"}, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, s.settings...)
			pod := a.runPod("stays")
			ip := a.addressesTaken("blue")[0]
			// What is left of a pod that vanished: an address, and its attachment.
			gone := filepath.Join(a.addresses(), "blue", "10.89.0.77")
			require.NoError(t, os.WriteFile(gone, []byte("vanished\r\neth0"), 0o600))
			kept, err := os.ReadFile(filepath.Join(a.n.Attachments(), "blue-"+pod+"-eth0"))
			require.NoError(t, err)
			kept = []byte(strings.ReplaceAll(string(kept), pod, "vanished"))
			require.NoError(t, os.WriteFile(filepath.Join(a.n.Attachments(), "blue-vanished-eth0"), kept, 0o600))
			if s.cut {
				file := filepath.Join(a.n.Attachments(), "blue-cut-eth0")
				require.NoError(t, os.WriteFile(file, []byte(`{"kind": "cniC`), 0o600))
			}
			if s.lost {
				require.NoError(t, os.Remove(filepath.Join(a.n.Attachments(), "blue-"+pod+"-eth0")))
			}
			require.NoError(t, a.n.Kill(withinAMinute(t)))
			before := a.timesAsked("GC", "")
			require.NoError(t, a.n.Boot(withinAMinute(t)))
			more := a.runPod("more") // waits for the collection
			check := func(t require.TestingT) {
				if s.collects {
					assert.Equal(t, before+1, a.timesAsked("GC", ""))
					assert.NoFileExists(t, gone)
				} else {
					assert.Equal(t, before, a.timesAsked("GC", ""))
					assert.FileExists(t, gone)
				}
			}
			if s.collects {
				stockBreaks(t, "N3", "there is no garbage collection", check)
			} else {
				check(t)
			}
			assert.Contains(t, a.addressesTaken("blue"), ip)
			assert.GreaterOrEqual(t, len(a.addressesTaken("blue")), 2)
			a.requirePodEnds(t, more)
			a.requirePodEnds(t, pod)
		})
	}
}
