// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
)

func parsed(t *testing.T, text string) *Config {
	t.Helper()
	c := DefaultConfig()
	require.NoError(t, toml.Unmarshal([]byte(text), c))
	return c
}

// The plugin of the network gates it, with the settings that it has. Only pods that name it require it.
func TestNetworkNamesItsPlugin(t *testing.T) {
	const text = "[plugins.net]\nrequired_for = ['containers']\nwait = '3s'\nnetwork_grace = '10s'\n[plugins.other]\nwait = '5s'"
	for _, name := range []string{"net", "10-net"} {
		c := parsed(t, "network = '"+name+"'\n"+text)
		before := c.Plugins
		for range 2 {
			c.nameNetwork()
			require.True(t, c.Plugins[name].GatesNetwork)
		}
		require.False(t, before["net"].GatesNetwork)
		require.True(t, c.requiresPlugins())
		settings := c.pluginSettings()
		require.Equal(t, nri.PluginSettings{Network: true, RequiredForContainers: true, ExemptHostNetwork: true, Wait: 3 * time.Second}, settings[name])
		require.Equal(t, nri.PluginSettings{Wait: 5 * time.Second}, settings["other"])
	}
	c := parsed(t, "network = 'net'\n[plugins.net]\nnetwork_grace = '10s'")
	c.nameNetwork()
	require.NoError(t, c.validate())

	c = &Config{Network: "10-net"}
	c.nameNetwork()
	require.NoError(t, c.validate())
	require.True(t, c.Plugins["10-net"].givesNetwork)
	require.True(t, c.requiresPlugins())
	c = parsed(t, "")
	c.nameNetwork()
	require.Empty(t, c.Plugins)
	require.False(t, c.requiresPlugins())
}

func TestNetworkIsValidated(t *testing.T) {
	for text, want := range map[string]string{
		"network = 'a/b'": `network is "a/b"`,
		"network = 'net'\n[plugins.net]\nexempt_namespaces = ['kube-system']": `plugins."net" has exempt_namespaces: their pods would have no network`,
		"network = 'net'\ndisable = true":                                     "plugins are required, and NRI is disabled",
		"network = '10-net'\n[plugins.net]\nexempt_namespaces = ['a']":        `plugins."10-net" has exempt_namespaces`,
		"network = 'net'\n[plugins.10-net]\nwait = '1s'":                      `network is "net", which has settings as plugins."10-net", too`,
	} {
		_, err := New(parsed(t, text), nil)
		require.ErrorContains(t, err, want)
	}
}

// The network takes no pods while its plugin says so. A plugin that disconnects or a restart of
// containerd does not change that.
func TestNetworkGateFollowsTheStatusOfItsPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, plugins := t.TempDir(), requiredAre(nri.RequiredPlugin{Name: "net"})
		says := func(word *nri.PodNetworkStatus) {
			plugins.mu.Lock()
			plugins.plugins[0].Network = word
			plugins.mu.Unlock()
			time.Sleep(time.Second)
			synctest.Wait()
		}
		g, text := gatesOf(gatedBy(t, dir, "net"), plugins)
		g.start()
		says(nil)
		require.Empty(t, closedGates(g))

		says(&nri.PodNetworkStatus{Code: 50, Message: "no uplink"})
		require.Equal(t, []string{"net"}, closedGates(g))
		require.Equal(t, "no uplink (code 50)", g.now()[0].Network.Reason())
		require.Contains(t, text.String(), "network takes no pods: no uplink (code 50)")
		says(nil)
		require.Empty(t, closedGates(g))
		says(&nri.PodNetworkStatus{Code: 51})
		plugins.leaves(0)
		says(nil)
		require.Equal(t, []string{"net"}, closedGates(g), "within its grace")
		g.stop()

		g, _ = gatesOf(gatedBy(t, dir, "net"), plugins)
		g.start()
		defer g.stop()
		require.Equal(t, []string{"net"}, closedGates(g), "after a restart")
		plugins.comes(0)
		require.Empty(t, closedGates(g))
	})
}
