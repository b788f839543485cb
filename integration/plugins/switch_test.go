// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// noSwitch is how stock breaks the promises about plugins that are turned off.
const noSwitch = "ctr has no command for it"

// ctrNRI runs a command of ctr about plugins, and returns what it prints, or its error.
func ctrNRI(ctx context.Context, n *node.Node, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(Binaries().Bin, "ctr"), append([]string{"--address", n.CRISocket(), "nri"}, args...)...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(exit.Stderr), err
	}
	return string(out), err
}

// isOut returns nil if a plugin was rejected because it is turned off.
func isOut(p *plugin.Process) error {
	if slices.ContainsFunc(p.KeptOut(), func(why string) bool { return strings.Contains(why, p.Name()+" is turned off") }) {
		return nil
	}
	return errors.New("it was not rejected")
}

// A plugin that rejects all pods, and comes back by itself, is turned off. Pods go on without it,
// also after a kill of containerd. When it is on, it receives what the operator was shown.
func TestSwitchTakesOutAPluginThatRejectsPods(t *testing.T) {
	t.Parallel()
	n, ctx := StartNode(t), WithinAMinute(t)
	others := JoinProcess(t, n, plugin.Script{Index: "20", Name: "other"})
	known := NewLife(t, n, "known")
	p := JoinProcess(t, n, plugin.Script{Index: "10", Name: "rejects", Returns: true, Answers: map[plugin.Event]plugin.Answer{
		plugin.RunPodSandbox: {Reject: "no pod is good enough"},
	}})
	_, err := n.CRI().RunPod(ctx, n.CRI().Pod("rejected"))
	require.ErrorContains(t, err, "no pod is good enough")

	said, err := ctrNRI(ctx, n, "off", p.Name())
	Promise(t, "L17", "an operator turns the plugin off without a restart", OnStock(noSwitch), func(t require.TestingT) {
		require.NoError(t, err, said)
		assert.Equal(t, p.Name()+" is off\n", said)
		RequireSoon(t, "its next registration to be rejected", func(context.Context) error { return isOut(p) })
		RequireLife(ctx, t, n, n.CRI().Pod("goes on"))
		assert.Empty(t, others.Gone(), "another plugin lost its connection")
	})
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	before := len(p.Calls().Only(plugin.Synchronize))
	Promise(t, "L17", "it stays off, and is shown, after a kill", OnStock(noSwitch), func(t require.TestingT) {
		out := len(p.KeptOut())
		RequireSoon(t, "another registration to be rejected", func(context.Context) error {
			if len(p.KeptOut()) == out {
				return errors.New("it was not")
			}
			return nil
		})
		listed, err := ctrNRI(ctx, n, "list")
		require.NoError(t, err, listed)
		assert.Regexp(t, p.Name()+` +off`, listed)
	})
	known.End(t)
	shown, err := ctrNRI(ctx, n, "show", p.Name())
	Promise(t, "L17", "what it will receive is shown", OnStock(noSwitch), func(t require.TestingT) {
		require.NoError(t, err, shown)
		assert.Contains(t, shown, "Synchronize with 1 pods and 1 containers. It does not know 1 and 1 of these.\n")
		rest := shown
		for _, end := range EveryEnd {
			_, after, found := strings.Cut(rest, string(end))
			require.True(t, found, "no %s in %s", end, shown)
			rest = after
		}
	})
	said, err = ctrNRI(ctx, n, "on", p.Name())
	Promise(t, "L18", "when it is on, it receives that", OnStock(noSwitch), func(t require.TestingT) {
		require.NoError(t, err, said)
		var received []plugin.Event
		RequireSoon(t, "the ends", func(context.Context) error {
			all := p.Calls().Connections()
			if received = all[len(all)-1].Of(known.Pod).Events(); len(received) < len(EveryEnd) {
				return fmt.Errorf("it has received %s", received)
			}
			return nil
		})
		assert.Equal(t, EveryEnd, received)
		assert.Len(t, p.Calls().Only(plugin.Synchronize), before+1)
	})
}

// A pod that waits for a frozen plugin goes on when the plugin is turned off.
func TestSwitchTakesOutAFrozenPlugin(t *testing.T) {
	t.Parallel()
	n, ctx := StartNode(t, func(o *node.Options) { o.RequestTimeout = 50 * time.Second }), WithinAMinute(t)
	p := JoinProcess(t, n, plugin.Script{Index: "10", Name: "frozen"})
	require.NoError(t, p.Freeze(ctx))
	created := make(chan error, 1)
	go func() {
		_, err := n.CRI().RunPod(ctx, n.CRI().Pod("waits"))
		created <- err
	}()
	Promise(t, "L17", "the pod is created once the plugin is off", OnStock(noSwitch), func(t require.TestingT) {
		RequireSoon(t, "the pod to wait for it", func(context.Context) error {
			for _, s := range ReadNRI(t, n).Plugins {
				if s.CurrentEvent != nil {
					return nil
				}
			}
			return errors.New("it does not")
		})
		said, err := ctrNRI(ctx, n, "off", p.Name())
		require.NoError(t, err, said)
		require.NoError(t, <-created)
	})
}

// A plugin that containerd launches is started again when it is on, without a restart.
func TestSwitchStartsALaunchedPluginAgain(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	n, ctx := StartNode(t, func(o *node.Options) { o.Config = ConfigLaunching(t, record) }), WithinAMinute(t)
	first := NewLife(t, n, "first")
	Promise(t, "L18", "it is off for one pod, and receives the end of another late", OnStock(noSwitch), func(t require.TestingT) {
		said, err := ctrNRI(ctx, n, "off", "10-launched")
		require.NoError(t, err, said)
		second := RequireLife(ctx, t, n, n.CRI().Pod("second"))
		EndPod(ctx, t, n, first.Pod)
		EndPod(ctx, t, n, second.Pod)
		said, err = ctrNRI(ctx, n, "on", "10-launched")
		require.NoError(t, err, said)
		RequireSoon(t, "it to be back", func(context.Context) error {
			if lines := LinesOf(t, record); lines[len(lines)-1] != "RemovePodSandbox first" {
				return errors.New("it has received " + strings.Join(lines, ", "))
			}
			return nil
		})
		assert.Equal(t, []string{"Synchronize 0", "RunPodSandbox first", "Synchronize 0", "StopPodSandbox first", "RemovePodSandbox first"}, LinesOf(t, record))
	})
}

// Pods that require the plugin do not start while it is off, and the operator sees that.
func TestSwitchKeepsRequirements(t *testing.T) {
	t.Parallel()
	n, ctx := StartNode(t, WithConfig(NoRule+"[plugins.'io.containerd.nri.v1.nri'.plugins.must]\nrequired_for = ['pods']\nwait = '100ms'\n")), WithinAMinute(t)
	p := plugin.New("10", "must")
	Connect(t, n, p)
	Promise(t, "L20", "a pod is rejected while its plugin is off", OnStock(noSwitch), func(t require.TestingT) {
		said, err := ctrNRI(ctx, n, "off", "10-must")
		require.NoError(t, err, said)
		assert.Equal(t, "10-must is off: new pods that require it do not start\n", said)
		_, err = n.CRI().RunPod(ctx, n.CRI().Pod("rejected"))
		require.ErrorContains(t, err, "required plugin must is disconnected")
		said, err = ctrNRI(ctx, n, "on", "20-must")
		require.Error(t, err)
		assert.Contains(t, said, `"20-must" is not turned off, but 10-must`)
		said, err = ctrNRI(ctx, n, "off", "must")
		require.Error(t, err)
		assert.Contains(t, said, `"must" is not the index and name of a plugin`)
	})
}
