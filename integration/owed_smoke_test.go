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

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// An end is told once to a name, if the runtime has got the answer.
func TestL18_EndsThatWereAnsweredAreNotToldAgain(t *testing.T) {
	t.Parallel()
	n, ctx := startNode(t), withinAMinute(t)
	p := plugin.New("10", "returns")
	connect(t, n, p)
	l := newLife(t, n, "pod")
	p.Crash()
	requireSoon(t, "it to be away", func(context.Context) error { return isOwed(t, n, p.Name(), 0) })
	l.End(t)
	connect(t, n, p)
	promise(t, "L18", "what ended while it was away is told when it is back", onStock(neverHears), func(t require.TestingT) {
		requireSoon(t, "the end", func(context.Context) error { return hasAnswered(p, plugin.RemovePodSandbox) })
	})
	requireSoon(t, "its answers", func(context.Context) error { return owesNothing(ctx, n) })
	p.Crash()
	requireSoon(t, "it to be away again", func(context.Context) error { return isOwed(t, n, p.Name(), 0) })
	connect(t, n, p)
	newLife(t, n, "next").End(t)
	promise(t, "L18", "it is not told again", keptOnStock, func(t require.TestingT) {
		assert.Empty(t, p.Calls().Connections()[2].Of(l.Pod))
	})
}

// An operator has a plugin forgotten that is not coming back.
func TestL18_PluginThatIsForgottenIsOwedNothing(t *testing.T) {
	t.Parallel()
	n, ctx := startNode(t), withinAMinute(t)
	gone := joinProcess(t, n, plugin.Script{Index: "10", Name: "gone"})
	l := newLife(t, n, "pod")
	require.NoError(t, gone.Kill())
	requireSoon(t, "the plugin to be away", func(context.Context) error { return isOwed(t, n, gone.Name(), 0) })
	require.NoError(t, n.CRI().StopPod(ctx, l.Pod))
	require.NoError(t, n.CRI().RemovePod(ctx, l.Pod))
	promise(t, "L17", "what it is owed is shown and counted", onStock("it shows no plugins"), func(t require.TestingT) {
		require.NoError(t, isOwed(t, n, gone.Name(), len(teardown)))
		unheard, err := n.Metrics(ctx, "containerd_nri_plugin_ends_unheard")
		require.NoError(t, err)
		assert.Len(t, unheard, 1)
	})
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

// owesNothing says whether no plugin is owed anything: the runtime has got all answers.
func owesNothing(ctx context.Context, n *node.Node) error {
	unheard, err := n.Metrics(ctx, "containerd_nri_plugin_ends_unheard")
	if len(unheard) > 0 {
		return fmt.Errorf("unheard are %v", unheard)
	}
	return err
}
