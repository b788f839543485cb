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

// That a plugin takes over from another one of its name is in conformance/cases. What is
// here needs settings or metrics.

func TestL17_PluginThatWasReplacedIsCountedAsThat(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	var all Instances
	Connect(t, n, all.Replica(t), all.Replica(t))
	Promise(t, "L17", "a plugin that was replaced is counted as that", OnStock("it counts no disconnects"), func(t require.TestingT) {
		RequireMetric(t, n, "containerd_nri_plugin_disconnects_total", `{plugin="10-one",reason="replaced"}`, 1)
	})
}

// Two of a name on purpose, and two of a name with other indices, are both told.
func TestL19_DuplicatesBothReceive(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(PluginSetting("twin", "allow_duplicates = true")))
	plugins := []*plugin.Plugin{plugin.New("10", "twin"), plugin.New("10", "twin"), plugin.New("20", "one"), plugin.New("30", "one")}
	Connect(t, n, plugins...)
	l := NewLife(t, n, "pod")
	l.End(t)
	Promise(t, "L19", "duplicates are both told of all", KeptOnStock, func(t require.TestingT) {
		for _, p := range plugins {
			assert.ElementsMatch(t, Whole, p.Calls().Of(l.Pod).Events(), p.Name())
		}
	})
}

// A plugin that the runtime has launched is not taken over from: nobody would launch it again.
// A peer under its name is a second one.
func TestL19_LaunchedPluginStays(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	n := StartNode(t, func(o *node.Options) { o.Config = ConfigLaunching(t, record) })
	peer := plugin.New("10", "launched")
	Connect(t, n, peer)
	l := NewLife(t, n, "pod")
	l.End(t)
	Promise(t, "L19", "a peer of its name keeps nothing from a launched plugin", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, []string{"Synchronize 0", "RunPodSandbox pod", "StopPodSandbox pod", "RemovePodSandbox pod"}, LinesOf(t, record))
		assert.ElementsMatch(t, Whole, peer.Calls().Of(l.Pod).Events())
	})
}

// Two processes of one name that are both started again when they exit, as services of the host,
// do not take turns: the one that was replaced waits, under whatever number it is back.
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
	Promise(t, "L19", "a service that was replaced and is started again waits for its successor to leave", OnStock("both are told of all"), func(t require.TestingT) {
		RequireSoon(t, "one that waits", func(context.Context) error {
			for _, p := range ReadNRI(t, n).Plugins {
				if p.TakesOver && !p.Synchronized {
					return nil
				}
			}
			return errors.New("none does")
		})
		assert.Empty(t, back.Calls().Only(plugin.Synchronize))
		assert.Error(t, isReplaced(second))
	})
	require.NoError(t, second.Kill())
	RequireSoon(t, "the first to be back", func(context.Context) error { return HasAnswered(back, plugin.Synchronize) })
}

// isReplaced says whether a plugin's connection was closed. On stock it is not.
func isReplaced(p *plugin.Process) error {
	if RunsOnStock || len(p.Gone()) > 0 {
		return nil
	}
	return fmt.Errorf("%s is there", p.Name())
}

// serviceOf makes the cgroups of a service. They go with the node's.
func serviceOf(t *testing.T, n *node.Node, name string) (folders []string) {
	t.Helper()
	for _, above := range cgroupFolders(t, filepath.Dir(n.PodCgroup())) {
		if strings.Contains(above, "/cpuset/") {
			continue // of v1: takes no process before it is set up
		}
		folder := filepath.Join(above, name+".service")
		require.NoError(t, os.MkdirAll(folder, 0o755))
		folders = append(folders, folder)
	}
	require.NotEmpty(t, folders)
	return folders
}
