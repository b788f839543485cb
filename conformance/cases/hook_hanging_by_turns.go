// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Two plugins answer Synchronize, hang in the hook of each pod, are dropped, and reconnect at
// once. So a pod in its hook always finds a new connection that it has not asked yet.
var _ = Pod.has("L22_PluginsThatHangInTheHookByTurnsCostOneTimeoutEach", Within(2*time.Second), func(t T) {
	const plugins = 2
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	first, other := NewPlugin(t, "05", "first"), NewPlugin(t, "30", "other")
	Connect(t, n, first, other)
	var hanging []*plugin.Process
	for i := range plugins {
		hanging = append(hanging, JoinProcess(t, n, plugin.Script{
			Index: fmt.Sprint(10 + i), Name: "hangs", Returns: true,
			Answers: map[plugin.Event]plugin.Answer{plugin.RunPodSandbox: {Work: time.Hour}},
		}))
	}

	created := RunPods(WithinAMinute(t), n, 1, 8*timeout, PodsNamed(n, "created", 2)...)
	for i, c := range created {
		InTimeouts(t, fmt.Sprintf("pod %d is created (%v)", i, c.Err), c.Took, timeout)
	}

	t.Promise("L22", "a creation waits one timeout for each of them, however often they reconnect", KeptOnStock, func(t require.TestingT) {
		RequireAllCreated(t, created)
		for _, c := range created { // the time before the hooks does not count
			before, after := first.Calls().Of(c.ID).Only(plugin.RunPodSandbox), other.Calls().Of(c.ID).Only(plugin.RunPodSandbox)
			require.Len(t, before, 1)
			require.Len(t, after, 1)
			assert.Less(t, after[0].Start.Sub(before[0].End), (plugins+1)*timeout)
		}
	})
	t.Promise("L14", "other plugins receive all events", KeptOnStock, func(t require.TestingT) {
		for _, c := range created {
			assert.Len(t, other.Calls().Of(c.ID).Only(plugin.RunPodSandbox), 1)
		}
	})
	t.Promise("L2", "they receive all pods each time that they reconnect", KeptOnStock, func(t require.TestingT) {
		for _, p := range hanging {
			RequireSoon(t, p.Name()+" to reconnect", func(context.Context) error {
				calls := p.Calls().Only(plugin.Synchronize)
				if received := len(calls[len(calls)-1].Pods); received < len(created) {
					return fmt.Errorf("it received %d pods", received)
				}
				return nil
			})
		}
	})
})
