// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// A plugin is killed, then its pod stopped and removed, and containerd killed in between:
// when the plugin is back it hears of these ends, in order and once.
func TestL18_EndsWhileAPluginIsAwayAreToldWhenItIsBack(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprintf("containerd is killed %t", restarts), func(t *testing.T) {
			t.Parallel()
			n, ctx := startNode(t), withinAMinute(t)
			gone, l := killedWithAPod(t, n)
			require.NoError(t, n.CRI().StopPod(ctx, l.Pod))
			if restarts {
				require.NoError(t, n.Kill(ctx))
				require.NoError(t, n.Boot(ctx))
			}
			require.NoError(t, n.CRI().RemovePod(ctx, l.Pod))
			promise(t, "L17", "what it is owed is shown", onStock("it shows no plugins"), func(t require.TestingT) {
				require.NoError(t, isOwed(t, n, gone.Name(), len(teardown)))
				unheard, err := n.Metrics(ctx, "containerd_nri_plugin_ends_unheard")
				require.NoError(t, err)
				assert.Len(t, unheard, 1)
			})

			never, back := plugin.New("20", "never"), plugin.New("10", "gone")
			connect(t, n, never, back)
			promise(t, "L18", "what ended while it was away is told when it is back", onStock(neverHears), func(t require.TestingT) {
				requireSoon(t, "the ends", func(context.Context) error { return hasAnswered(back, plugin.RemovePodSandbox) })
				assert.Equal(t, []plugin.Event{plugin.StopContainer, plugin.StopPodSandbox, plugin.RemoveContainer, plugin.RemovePodSandbox}, back.Calls().Of(l.Pod).Events())
				assert.Equal(t, "pod", back.Calls().Of(l.Pod)[0].Pod.GetName())
			})
			requireSoon(t, "its answers", func(context.Context) error { return owesNothing(ctx, n) })
			back.Crash()
			requireSoon(t, "it to be away", func(context.Context) error { return isOwed(t, n, gone.Name(), 0) })
			connect(t, n, back)
			newLife(t, n, "next").End(t)
			promise(t, "L18", "it is told once, and nobody else is", keptOnStock, func(t require.TestingT) {
				assert.Empty(t, back.Calls().Connections()[1].Of(l.Pod))
				assert.Empty(t, never.Calls().Of(l.Pod))
			})
		})
	}
}

// An operator has a plugin forgotten that is not coming back.
func TestL18_PluginThatIsForgottenIsOwedNothing(t *testing.T) {
	t.Parallel()
	n, ctx := startNode(t), withinAMinute(t)
	gone, l := killedWithAPod(t, n)
	require.NoError(t, n.CRI().StopPod(ctx, l.Pod))
	require.NoError(t, n.CRI().RemovePod(ctx, l.Pod))
	forget := func() (string, error) {
		out, err := exec.CommandContext(ctx, filepath.Join(binaries().Bin, "ctr"), "--address", n.CRISocket(), "nri", "forget", gone.Name()).CombinedOutput()
		return string(out), err
	}
	said, err := forget()
	saidAgain, errAgain := forget()
	promise(t, "L18", "a plugin can be forgotten by its name", onStock("ctr has no command for it"), func(t require.TestingT) {
		require.NoError(t, err, said)
		assert.Contains(t, said, "10-gone is forgotten, and 4 ends that it was owed\n")
		require.Error(t, errAgain)
		assert.Contains(t, saidAgain, "no plugin is away")
	})
	back := plugin.New("10", "gone")
	connect(t, n, back)
	newLife(t, n, "next").End(t)
	promise(t, "L18", "it is told nothing of what ended while it was away", keptOnStock, func(t require.TestingT) {
		assert.Empty(t, back.Calls().Of(l.Pod))
	})
}

// killedWithAPod returns a plugin that was killed, which the runtime knows, and a pod that
// the plugin knew.
func killedWithAPod(t *testing.T, n *node.Node) (*plugin.Process, life) {
	t.Helper()
	gone := joinProcess(t, n, plugin.Script{Index: "10", Name: "gone"})
	l := newLife(t, n, "pod")
	require.NoError(t, gone.Kill())
	requireSoon(t, "the plugin to be away", func(context.Context) error { return isOwed(t, n, gone.Name(), 0) })
	return gone, l
}

// owesNothing says whether no plugin is owed anything: the runtime has got all answers.
func owesNothing(ctx context.Context, n *node.Node) error {
	unheard, err := n.Metrics(ctx, "containerd_nri_plugin_ends_unheard")
	if len(unheard) > 0 {
		return fmt.Errorf("unheard are %v", unheard)
	}
	return err
}

// isOwed says whether a plugin is shown as away, with so many ends that it is owed.
func isOwed(t require.TestingT, n target, name string, ends int) error {
	if runsOnStock {
		return nil // it shows no plugins
	}
	away := readNRI(t, n).AwayPlugins
	for _, p := range away {
		if p.Name == name && p.Owed == ends {
			return nil
		}
	}
	return fmt.Errorf("away are %v", away)
}
