// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/containerd/ttrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// callerTime is how long the callers of these cases wait: shorter than a plugin's timeout.
const callerTime = 5 * time.Second

func withinCallerTime(t T) context.Context {
	ctx, leave := context.WithTimeout(t.Context(), callerTime)
	t.Cleanup(leave)
	return ctx
}

// A plugin takes a part of the caller's time, and the next one the rest. It ends at its deadline, so
// that the roll-back need not wait for it.
var _ = Pod.has("L28_ErrorNamesThePluginsThatTookTheTime", Patient, func(t T) {
	n := t.Runtime()
	slow, last := NewPlugin(t, "10", "slow"), NewPlugin(t, "20", "last")
	slow.On(plugin.RunPodSandbox, plugin.Delay(callerTime/5))
	last.On(plugin.RunPodSandbox, plugin.Delay(callerTime))
	Connect(t, n, slow, last)

	_, err := n.CRI().RunPod(withinCallerTime(t), n.CRI().Pod("late"))

	require.Error(t, err)
	t.Promise("L28", "the error names the plugins that took the caller's time", OnStock("the caller receives none"), func(t require.TestingT) {
		assert.ErrorContains(t, err, slow.Name()+" took ")
		assert.ErrorContains(t, err, last.Name()+" took ")
	})
})

// A plugin that knows its deadline need not begin what it cannot finish.
var _ = Pod.has("L28_PluginReceivesNoLaterDeadlineThanItsCaller", Patient, func(t T) {
	n := t.Runtime()
	p, has := NewPlugin(t, "10", "punctual"), make(chan time.Duration, 1)
	p.On(plugin.RunPodSandbox, func(ctx context.Context, _ *plugin.Call) error {
		at, limited := ctx.Deadline()
		if !limited {
			return errors.New("no deadline")
		}
		has <- time.Until(at)
		return nil
	})
	Connect(t, n, p)

	_, err := n.CRI().RunPod(withinCallerTime(t), n.CRI().Pod("short"))

	t.Promise("L28", "the plugin's deadline is no later than its caller's", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, err)
		assert.LessOrEqual(t, <-has, callerTime)
	})
})

// The first of two plugins that could each take all of the caller's time learns that half of it is
// for the other one.
var _ = Pod.has("L28_PluginsLearnTheirShareOfTheTime", Patient, func(t T) {
	n := t.Runtime()
	shares := make(chan time.Duration, 2)
	first, last := NewPlugin(t, "10", "first"), NewPlugin(t, "20", "last")
	for _, p := range []*plugin.Plugin{first, last} {
		p.On(plugin.RunPodSandbox, func(ctx context.Context, _ *plugin.Call) error {
			text, _ := ttrpc.GetMetadataValue(ctx, "nri-time-share")
			ms, _ := strconv.Atoi(text) // zero stands for none
			shares <- time.Duration(ms) * time.Millisecond
			return nil
		})
	}
	Connect(t, n, first, last)

	_, err := n.CRI().RunPod(withinCallerTime(t), n.CRI().Pod("short"))

	require.NoError(t, err)
	t.Promise("L28", "the share of a plugin is what those behind it leave", OnStock("it learns none"), func(t require.TestingT) {
		share := <-shares
		assert.Positive(t, share)
		assert.LessOrEqual(t, share, callerTime/2)
	})
	t.Promise("L28", "the last plugin has all that is left", KeptOnStock, func(t require.TestingT) {
		assert.Zero(t, <-shares)
	})
})
