// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Cases in conformance/cases test that a plugin takes over from another one of its name. The tests
// here need settings or metrics.

func TestL17_PluginThatWasReplacedIsCountedAsThat(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	var all Instances
	Connect(t, n, all.Replica(t), all.Replica(t))
	Promise(t, "L17", "a plugin that was replaced is counted as that", OnStock("it counts no disconnects"), func(t require.TestingT) {
		RequireMetric(t, n, "containerd_nri_plugin_disconnects_total", `{plugin="10-one",reason="replaced"}`, 1)
	})
}

// Allowed duplicates, and two plugins of one name with different indices, all receive each event.
func TestL19_DuplicatesBothReceive(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(PluginSetting("same", "allow_duplicates = true")))
	plugins := []*plugin.Plugin{plugin.New("10", "same"), plugin.New("10", "same"), plugin.New("20", "one"), plugin.New("30", "one")}
	Connect(t, n, plugins...)
	l := NewLife(t, n, "pod")
	l.End(t)
	Promise(t, "L19", "duplicates both receive each event", KeptOnStock, func(t require.TestingT) {
		for _, p := range plugins {
			assert.ElementsMatch(t, Whole, p.Calls().Of(l.Pod).Events(), p.Name())
		}
	})
}

// A plugin that the runtime has launched has no successor, since the runtime would not launch it
// again. A peer under its name is a duplicate.
func TestL19_LaunchedPluginStays(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	n := StartNode(t, func(o *node.Options) { o.Config = ConfigLaunching(t, record) })
	peer := plugin.New("10", "launched")
	Connect(t, n, peer)
	l := NewLife(t, n, "pod")
	l.End(t)
	Promise(t, "L19", "a launched plugin receives each event in spite of a peer of its name", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, []string{"Synchronize 0", "RunPodSandbox pod", "StopPodSandbox pod", "RemovePodSandbox pod"}, LinesOf(t, record))
		assert.ElementsMatch(t, Whole, peer.Calls().Of(l.Pod).Events())
	})
}

// Two services of the host have the same plugin name, and both are restarted when they exit. They
// do not take turns: the replaced one waits, also after a restart with another PID.
func TestL19_ServicesOfOneNameDoNotTakeTurns(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	service := func(name string) plugin.Script {
		return plugin.Script{Index: "10", Name: "one", Cgroups: serviceOf(t, n, name)}
	}
	first := JoinProcess(t, n, service("first"))
	second := JoinProcess(t, n, service("second"))
	RequireSoon(t, "the first to be replaced", func(context.Context) error { return isReplaced(first) })
	require.NoError(t, first.Kill())
	back := StartProcess(t, n, service("first"))
	Promise(t, "L19", "a replaced service that restarts waits until its successor disconnects", OnStock("both receive each event"), func(t require.TestingT) {
		RequireSoon(t, "a service that waits", func(context.Context) error {
			for _, p := range ReadNRI(t, n).Plugins {
				if p.TakesOver && !p.Synchronized {
					return nil
				}
			}
			return errors.New("none waits")
		})
		assert.Empty(t, back.Calls().Only(plugin.Synchronize))
		assert.Error(t, isReplaced(second))
	})
	require.NoError(t, second.Kill())
	RequireSoon(t, "the first to be back", func(context.Context) error { return HasAnswered(back, plugin.Synchronize) })
}

// isReplaced returns nil once a plugin's connection was closed. On stock it is not.
func isReplaced(p *plugin.Process) error {
	if RunsOnStock || len(p.Gone()) > 0 {
		return nil
	}
	return fmt.Errorf("%s is connected", p.Name())
}

// serviceOf makes the cgroups of a service. They are removed with the node's.
func serviceOf(t *testing.T, n *node.Node, name string) (folders []string) {
	t.Helper()
	for _, above := range cgroupFolders(t, filepath.Dir(n.PodCgroup())) {
		if strings.Contains(above, "/cpuset/") {
			continue // cgroup v1 takes no process before it is set up
		}
		folder := filepath.Join(above, name+".service")
		require.NoError(t, os.MkdirAll(folder, 0o755))
		folders = append(folders, folder)
	}
	require.NotEmpty(t, folders)
	return folders
}
