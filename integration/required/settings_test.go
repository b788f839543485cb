// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// If the operator's requirements have a mistake, no pod starts.
func TestL20_NoPodStartsIfRequirementsCannotBeRead(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule))
	for _, config := range []string{
		PluginSetting("must", "required_for = ['pod']"),
		PluginSetting("must", "required_for = ['pods']\nwait = '1h'"),
		PluginSetting("must", "required_for = ['pods']") + "[plugins.'io.containerd.nri.v1.nri']\ndisable = true\n",
	} {
		require.NoError(t, n.Kill(WithinAMinute(t)))
		soon, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := SaysAndBoots(soon, t, n, config)
		cancel()
		t.Logf("boot: %v", err)
		_, err = n.CRI().RunPod(WithinMoments(t), n.CRI().Pod("pod"))
		Promise(t, "L20", "no pod is created", OnStock(NotRequired), func(t require.TestingT) {
			require.Error(t, err)
			RequireSoon(t, "the log", func(context.Context) error { return HasLogged(n, "no pods can be created", "plugins are required") })
		})
	}
}

// Two plugins that all pods require run as pods themselves, on an empty node: pods of their own
// namespaces start without either.
func TestL20_RequiredPluginsThatRunAsPodsStartOnAnEmptyNode(t *testing.T) {
	t.Parallel()
	const exempt = "exempt_namespaces = ['net-system', 'device-system']\nrequired_for = ['pods', 'containers']\nwait = '10s'"
	n := StartNode(t, WithConfig(PluginSetting("net", exempt)+"[plugins.'io.containerd.nri.v1.nri'.plugins.device]\n"+exempt+"\n"))
	ctx, c := WithinAMinute(t), n.CRI()
	ran := make(chan error, 1)
	go func() {
		_, err := c.RunPod(ctx, n.CRI().Pod("user"))
		ran <- err
	}()
	if !RunsOnStock {
		RequireSoon(t, "the pod that waits", func(context.Context) error { return WaitFor(t, n, "device", 1) })
	}
	var plugins []*plugin.Process
	for i, name := range []string{"net", "device"} {
		Promise(t, "L20", "the pod of plugin "+name+" starts", KeptOnStock, func(t require.TestingT) {
			RequireLife(ctx, t, n, PodIn(n, name+"-system", name, nil))
		})
		plugins = append(plugins, JoinProcess(t, n, plugin.Script{Index: []string{"10", "20"}[i], Name: name}))
	}
	require.NoError(t, <-ran)
	Promise(t, "L20", "the pod that waited for both starts with the approval of both", OnStock(NotRequired), func(t require.TestingT) {
		for _, p := range plugins {
			RequireSoon(t, "the record of the hook", func(context.Context) error {
				if run := p.Calls().Named("user").Only(plugin.RunPodSandbox); len(run) != 1 {
					return fmt.Errorf("%s received the pod %d times", p.Name(), len(run))
				}
				return nil
			})
		}
	})
}

// A plugin may have a longer timeout than others. The ends of pods do not wait longer for it.
func TestL16_PluginHasTheTimeoutThatIsSetForIt(t *testing.T) {
	t.Parallel()
	const timeout, work = 500 * time.Millisecond, 5 * time.Second
	n := StartNode(t, WithNeeds(Needs{Timeouts: Timeouts{Request: timeout}}), WithConfig(PluginSetting("slow", "request_timeout = '10s'")))
	slow := JoinProcess(t, n, plugin.Script{Index: "10", Name: "slow", Answers: map[plugin.Event]plugin.Answer{
		plugin.RunPodSandbox: {Work: work}, plugin.StopPodSandbox: {Work: work},
	}})
	ctx := WithinAMinute(t)
	id, err := n.CRI().RunPod(ctx, n.CRI().Pod("pod"))
	require.NoError(t, err)
	Promise(t, "L16", "the pod starts with its answer, and it stays connected", OnStock("it is dropped after the common timeout"), func(t require.TestingT) {
		RequireSoon(t, "the answer", func(context.Context) error { return HasAnsweredOf(slow, id, plugin.RunPodSandbox) })
		assert.Empty(t, slow.Gone())
	})
	start := time.Now()
	require.NoError(t, n.CRI().StopPod(ctx, id))
	took := time.Since(start)
	InTimeouts(t, "the stop", took, timeout)
	Promise(t, "L9", "a stop waits for it no longer than for others", KeptOnStock, func(t require.TestingT) {
		assert.Less(t, took, work)
	})
	Promise(t, "L9", "it answers the stop within its own timeout", OnStock("it was dropped"), func(t require.TestingT) {
		RequireSoon(t, "the answer", func(context.Context) error { return HasAnsweredOf(slow, id, plugin.StopPodSandbox) })
		assert.Empty(t, slow.Gone())
	})
}

// A plugin whose request is canceled by the caller's deadline has not timed out. The caller
// receives the reason for the failure before its deadline.
func TestL16_PluginIsNotBlamedForTheDeadlineOfItsCaller(t *testing.T) {
	t.Parallel()
	const patience = 12 * time.Second
	n := StartNode(t, WithNeeds(Patient))
	gate := NewGate(t)
	holds := plugin.New("10", "holds")
	holds.On(plugin.RunPodSandbox, func(ctx context.Context, call *plugin.Call) error {
		at, ok := ctx.Deadline()
		if ok && time.Until(at) < patience {
			<-ctx.Done() // it ends with its context
			return ctx.Err()
		}
		return gate.Hold(ctx, call)
	})
	Connect(t, n, holds)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	start := time.Now()
	_, err := n.CRI().RunPod(ctx, n.CRI().Pod("pod"))
	took := time.Since(start)
	t.Logf("after %s: %v", took, err)
	Promise(t, "L16", "the caller receives an error that names the plugin, in time", OnStock("it receives none"), func(t require.TestingT) {
		assert.Less(t, took, patience)
		require.ErrorContains(t, err, "10-holds")
	})
	Promise(t, "L7", "everything is undone by then", OnStock("the hook still runs"), func(t require.TestingT) {
		assert.Equal(t, Undone, holds.Calls().Named("pod").Events())
		RequireNothingLeft(t, n)
	})
	Promise(t, "L16", "the plugin stays connected", KeptOnStock, func(t require.TestingT) {
		assert.True(t, IsOpen(holds.Closed()))
	})
}
