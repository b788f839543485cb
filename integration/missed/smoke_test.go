// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A name receives an end once, if the runtime has received the answer.
func TestL18_EndsThatWereAnsweredAreNotDeliveredAgain(t *testing.T) {
	t.Parallel()
	n, ctx := StartNode(t), WithinAMinute(t)
	p := plugin.New("10", "returns")
	Connect(t, n, p)
	l := NewLife(t, n, "pod")
	p.Crash()
	RequireSoon(t, "it to be disconnected", func(context.Context) error { return HasMissed(t, n, p.Name(), 0) })
	l.End(t)
	Connect(t, n, p)
	if !RunsOnStock { // stock never delivers it
		RequireSoon(t, "the end", func(context.Context) error { return HasAnswered(p, plugin.RemovePodSandbox) })
	}
	RequireSoon(t, "its answers", func(context.Context) error { return missesNothing(ctx, n) })
	p.Crash()
	RequireSoon(t, "it to be disconnected again", func(context.Context) error { return HasMissed(t, n, p.Name(), 0) })
	Connect(t, n, p)
	NewLife(t, n, "next").End(t)
	Promise(t, "L18", "the plugin does not receive it again", KeptOnStock, func(t require.TestingT) {
		assert.Empty(t, p.Calls().Connections()[2].Of(l.Pod))
	})
}

// An operator makes the runtime forget a plugin that will not reconnect.
func TestL18_ForgottenPluginMissesNothing(t *testing.T) {
	t.Parallel()
	n, ctx := StartNode(t), WithinAMinute(t)
	gone := JoinProcess(t, n, plugin.Script{Index: "10", Name: "gone"})
	l := NewLife(t, n, "pod")
	require.NoError(t, gone.Kill())
	RequireSoon(t, "the plugin to be disconnected", func(context.Context) error { return HasMissed(t, n, gone.Name(), 0) })
	require.NoError(t, n.CRI().StopPod(ctx, l.Pod))
	require.NoError(t, n.CRI().RemovePod(ctx, l.Pod))
	Promise(t, "L17", "its missed events are shown and counted", OnStock("it shows no plugins"), func(t require.TestingT) {
		require.NoError(t, HasMissed(t, n, gone.Name(), len(EveryEnd)))
		unheard, err := n.Metrics(ctx, "containerd_nri_plugin_missed_events_kept")
		require.NoError(t, err)
		assert.Len(t, unheard, 1)
	})
	forget := func() (string, error) {
		out, err := exec.CommandContext(ctx, filepath.Join(Binaries().Bin, "ctr"), "--address", n.CRISocket(), "nri", "forget", gone.Name()).CombinedOutput()
		return string(out), err
	}
	said, err := forget()
	saidAgain, errAgain := forget()
	Promise(t, "L18", "a plugin can be forgotten by its name", OnStock("ctr has no command for it"), func(t require.TestingT) {
		require.NoError(t, err, said)
		assert.Contains(t, said, "10-gone is forgotten, with 4 missed events\n")
		require.Error(t, errAgain)
		assert.Contains(t, saidAgain, "no plugin is disconnected")
	})
	back := plugin.New("10", "gone")
	Connect(t, n, back)
	NewLife(t, n, "next").End(t)
	Promise(t, "L18", "it receives no missed events", KeptOnStock, func(t require.TestingT) {
		assert.Empty(t, back.Calls().Of(l.Pod))
	})
}

// missesNothing returns nil if no plugin has missed events: the runtime has received all answers.
func missesNothing(ctx context.Context, n *node.Node) error {
	unheard, err := n.Metrics(ctx, "containerd_nri_plugin_missed_events_kept")
	if len(unheard) > 0 {
		return fmt.Errorf("missed events are %v", unheard)
	}
	return err
}
