// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// gatedBy returns a configuration in which plugins of these names gate the network.
func gatedBy(t *testing.T, stateDir string, plugins ...string) *Config {
	t.Helper()
	c := DefaultConfig()
	for _, name := range plugins {
		require.NoError(t, toml.Unmarshal([]byte("[plugins."+name+"]\nrequired_for = ['pods']\ngates_network = true\nnetwork_grace = '10s'"), c))
	}
	require.NoError(t, c.validate())
	return c.KeptIn(stateDir)
}

// requiredNow are the required plugins, with since when each is disconnected.
type requiredNow struct {
	mu      sync.Mutex // guards plugins
	plugins []nri.RequiredPlugin
}

func requiredAre(plugins ...nri.RequiredPlugin) *requiredNow { return &requiredNow{plugins: plugins} }

func (r *requiredNow) list() []nri.RequiredPlugin {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.plugins)
}

// leaves disconnects a plugin, and comes connects it.
func (r *requiredNow) leaves(i int) { r.set(i, time.Now()) }
func (r *requiredNow) comes(i int)  { r.set(i, time.Time{}) }

func (r *requiredNow) set(i int, gone time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plugins[i].Disconnected = gone
}

// gatesOf returns gates of plugins, and their log.
func gatesOf(c *Config, plugins *requiredNow) (*networkGates, *bytes.Buffer) {
	var text bytes.Buffer
	logger := logrus.New()
	logger.SetOutput(&text)
	g := newNetworkGates(c, plugins.list)
	g.log = logrus.NewEntry(logger)
	return g, &text
}

func closedGates(g *networkGates) (names []string) {
	for _, s := range g.now() {
		if s.Closed {
			names = append(names, s.Plugin)
		}
	}
	return names
}

// The network takes no pods before the plugin has connected. It takes pods while the plugin is
// connected, and for its grace after it disconnected.
func TestL20_NetworkGateFollowsItsPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plugins := requiredAre(nri.RequiredPlugin{Name: "gone", Disconnected: time.Now()}, nri.RequiredPlugin{Name: "ungated", Disconnected: time.Now()})
		g, _ := gatesOf(gatedBy(t, "", "gone"), plugins)
		g.start()
		defer g.stop()
		require.Equal(t, []string{"gone"}, closedGates(g), "before it connected")
		time.Sleep(time.Hour)
		require.Equal(t, []string{"gone"}, closedGates(g))

		plugins.comes(0)
		require.Empty(t, closedGates(g), "at once")
		time.Sleep(time.Minute)
		plugins.leaves(0)
		time.Sleep(10*time.Second - time.Nanosecond)
		require.Empty(t, closedGates(g), "within its grace")
		time.Sleep(time.Nanosecond)
		require.Equal(t, []string{"gone"}, closedGates(g))
		plugins.comes(0)
		require.Empty(t, closedGates(g))
	})
}

// A plugin that restarts over and over does not make the network flap. Neither does a plugin that
// connected for only a moment, once its gate is closed.
func TestL20_NetworkGateDoesNotFlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plugins := requiredAre(nri.RequiredPlugin{Name: "net"})
		g, text := gatesOf(gatedBy(t, "", "net"), plugins)
		g.start()
		defer g.stop()
		time.Sleep(time.Second)
		synctest.Wait()
		text.Reset()
		for range 50 {
			plugins.leaves(0)
			time.Sleep(9 * time.Second)
			require.Empty(t, closedGates(g))
			plugins.comes(0)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		require.Empty(t, text.String())
	})
}

// If NetworkReady was true once, it does not turn false a moment later because of an earlier
// disconnect of the plugin.
func TestL20_NetworkGateOpensOnceThePluginIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plugins := requiredAre(nri.RequiredPlugin{Name: "net", Disconnected: time.Now()})
		g, text := gatesOf(gatedBy(t, "", "net"), plugins)
		g.start()
		defer g.stop()
		plugins.comes(0)
		require.Empty(t, closedGates(g))
		plugins.leaves(0)
		require.Empty(t, closedGates(g))
		synctest.Wait()
		require.Contains(t, text.String(), "network waits no longer for required NRI plugin", "at once")
	})
}

// Each of two plugins has a gate of its own.
func TestL20_TwoNetworkGates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plugins := requiredAre(nri.RequiredPlugin{Name: "dev", Disconnected: time.Now()}, nri.RequiredPlugin{Name: "net", Disconnected: time.Now()})
		g, _ := gatesOf(gatedBy(t, "", "net", "dev"), plugins)
		require.Equal(t, []string{"dev", "net"}, closedGates(g))
		plugins.comes(0)
		require.Equal(t, []string{"net"}, closedGates(g))
		plugins.comes(1)
		require.Empty(t, closedGates(g))
	})
}

// After a restart of containerd a gate has its earlier state, and its grace begins when the
// plugin could first reconnect.
func TestL20_NetworkGateOutlivesContainerd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		restart := func(plugins *requiredNow) *networkGates {
			g, _ := gatesOf(gatedBy(t, dir, "net"), plugins)
			time.Sleep(time.Minute) // containerd reads its pods
			g.start()
			return g
		}
		there, gone := requiredAre(nri.RequiredPlugin{Name: "net"}), requiredAre(nri.RequiredPlugin{Name: "net", Disconnected: time.Now()})

		g := restart(gone)
		require.Equal(t, []string{"net"}, closedGates(g), "the node has booted")
		time.Sleep(time.Minute)
		g.stop()
		g = restart(gone)
		require.Equal(t, []string{"net"}, closedGates(g), "it has not connected yet")
		g.stop()

		g = restart(there)
		time.Sleep(time.Second)
		g.stop()
		g = restart(gone)
		require.Empty(t, closedGates(g), "it was connected")
		time.Sleep(10*time.Second - time.Nanosecond)
		require.Empty(t, closedGates(g))
		time.Sleep(time.Second)
		require.Equal(t, []string{"net"}, closedGates(g))
		g.stop()
		g = restart(gone)
		require.Equal(t, []string{"net"}, closedGates(g), "a plugin that stays disconnected has no second grace")
		g.stop()
	})
}

// If the state of a gate cannot be recorded, that is logged, and the gate works without the record.
func TestNetworkGateCannotBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	g, text := gatesOf(gatedBy(t, file, "net"), requiredAre(nri.RequiredPlugin{Name: "net"}))
	g.look()
	require.Empty(t, closedGates(g))
	require.Contains(t, text.String(), "failed to note that plugin net is connected")
}

// Each transition is logged once and counted.
func TestL17_TransitionsOfANetworkGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plugins := requiredAre(nri.RequiredPlugin{Name: "seen", Disconnected: time.Now()})
		g, text := gatesOf(gatedBy(t, "", "seen"), plugins)
		g.start()
		defer g.stop()
		said := func() string {
			time.Sleep(time.Minute)
			synctest.Wait()
			defer text.Reset()
			return text.String()
		}
		require.Regexp(t, `^time=\S+ level=warning msg="network takes no pods until required NRI plugin has connected" plugin=seen\n$`, said())
		require.Empty(t, said())
		plugins.comes(0)
		require.Regexp(t, `^time=\S+ level=info msg="network waits no longer for required NRI plugin: it is connected" plugin=seen\n$`, said())
		plugins.leaves(0)
		require.Regexp(t, `^time=\S+ level=warning msg="network takes no pods: required NRI plugin is disconnected" plugin=seen since="2000-\S+"\n$`, said())
		require.Subset(t, metricsOf(t, "seen"), []string{"containerd_nri_network_gate_closed", "containerd_nri_network_gate_transitions_total"})
	})
}

// If no plugin gates the network, nothing is watched.
func TestNoNetworkGate(t *testing.T) {
	g := newNetworkGates(DefaultConfig(), nil)
	require.Nil(t, g)
	g.start()
	require.Empty(t, g.now())
	require.Nil(t, g.of(nri.RequiredPlugin{Name: "net"}))
	g.stop()
	require.Nil(t, (&local{cfg: &Config{Disable: true}}).NetworkGates())
}

func TestInvalidNetworkGates(t *testing.T) {
	for text, want := range map[string]string{
		"gates_network = true":                                                 `gates_network is set: required_for must have "pods"`,
		"gates_network = true\nrequired_for = ['containers']":                  `gates_network is set: required_for must have "pods"`,
		"network_grace = '1s'":                                                 "network_grace is set, and gates_network is not",
		"gates_network = true\nrequired_for = ['pods']\nnetwork_grace = '-1s'": "network_grace is -1s: must be between 0s and 1h0m0s",
		"gates_network = true\nrequired_for = ['pods']\nnetwork_grace = '61m'": "network_grace is 1h1m0s: must be between 0s and 1h0m0s",
	} {
		c := DefaultConfig()
		require.NoError(t, toml.Unmarshal([]byte("[plugins.net]\n"+text), c))
		_, err := New(c, nil)
		require.ErrorContains(t, err, want)
	}
	c := DefaultConfig()
	c.Plugins["net"] = PluginConfig{RequiredFor: []string{forPods}, GatesNetwork: true}
	require.NoError(t, c.validate())
	require.Equal(t, 30*time.Second, c.Plugins["net"].networkGrace())
	require.True(t, c.pluginSettings()["net"].ExemptHostNetwork)
}
