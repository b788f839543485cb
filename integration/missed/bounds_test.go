// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A missed event keeps only the data that a plugin needs to free its resources of a pod: nothing
// secret outlives the pod, and nothing at all outlives the delivery.
func TestL18_NothingSecretOutlivesItsPod(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := JoinNamed(t, n, plugin.Script{Index: "10", Name: "disconnected"})
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("pod")
	config.Annotations = map[string]string{"note": "that is kept"}
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	main := c.Container("main")
	main.Envs = []*runtime.KeyValue{{Key: "PASSWORD", Value: []byte("the secret in the environment")}}
	main.Args = append(main.Args, "the secret in an argument")
	container, err := c.Create(ctx, pod, config, main)
	require.NoError(t, err)
	l := Life{N: n, Pod: pod, Container: container}
	p.Goes(t)
	l.End(t)

	Promise(t, "L18", "missed events have neither environment nor arguments", KeptOnStock, func(t require.TestingT) {
		assert.NoError(t, isNotKept(n, "the secret"))
	})
	Promise(t, "L18", "they are on the disk with the pod's annotations", OnStock("it keeps nothing"), func(t require.TestingT) {
		require.Error(t, isNotKept(n, "that is kept"))
	})
	p.Comes(t)
	Promise(t, "L18", "the end that is delivered late has no environment", OnStock(NeverHears), func(t require.TestingT) {
		p.RequireDelivered(t, l.Pod, EveryEnd...)
		for _, end := range p.CallsSinceReturn(l.Pod) {
			assert.Empty(t, end.Container.GetEnv())
		}
	})
	Promise(t, "L18", "nothing of a delivered event is left on the disk", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "it to be gone", func(context.Context) error { return isNotKept(n, "that is kept") })
	})
}

// isNotKept returns nil if a text is in no file of missed events.
func isNotKept(n *node.Node, text string) error {
	folder := filepath.Join(n.Folder(), "root", "io.containerd.nri.v1.nri")
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		data, readErr := os.ReadFile(filepath.Join(folder, e.Name()))
		err = errors.Join(err, readErr)
		if bytes.Contains(data, []byte(text)) {
			err = errors.Join(err, fmt.Errorf("%q is in %s", text, e.Name()))
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// isSynchronized returns nil if the runtime shows a plugin as synchronized.
func isSynchronized(t require.TestingT, n Runtime, name string) error {
	if RunsOnStock {
		return nil // it shows no plugins
	}
	for _, p := range ReadNRI(t, n).Shown(name) {
		if p.Synchronized {
			return nil
		}
	}
	return fmt.Errorf("%s is not synchronized", name)
}

// Plugins that keep connecting under new names do not displace a disconnected plugin.
func TestL18_ManyNamesTakeNothingFromOne(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	victim := JoinNamed(t, n, plugin.Script{Index: "50", Name: "victim"})
	l, before := NewLife(t, n, "pod"), NewLife(t, n, "before")
	victim.Goes(t)
	before.End(t)
	for i := range 80 {
		p := plugin.New("10", fmt.Sprint("many", i))
		require.NoError(t, p.Connect(WithinAMinute(t), n.NRISocket()))
		RequireSoon(t, p.Name()+" to be synchronized", func(context.Context) error { return isSynchronized(t, n, p.Name()) })
		p.Crash()
	}
	l.End(t)
	Promise(t, "L18", "missed events of a plugin are kept while 80 other names know the same pods", OnStock(NeverHears), func(t require.TestingT) {
		RequireSoon(t, "all names to be gone", func(context.Context) error {
			if connected := ReadNRI(t, n).Plugins; len(connected) > 0 {
				return fmt.Errorf("%d are connected", len(connected))
			}
			return nil
		})
		require.NoError(t, HasMissed(t, n, victim.Name(), 8))
		require.Len(t, ReadNRI(t, n).DisconnectedPlugins, 64)
		require.NoError(t, HasLogged(n, "the missed events of an NRI plugin are not kept"))
	})
	victim.Comes(t)
	Promise(t, "L18", "it receives the ends of both pods", OnStock(NeverHears), func(t require.TestingT) {
		victim.RequireDelivered(t, before.Pod, EveryEnd...)
		victim.RequireDelivered(t, l.Pod, EveryEnd...)
	})
}
