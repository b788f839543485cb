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
	"github.com/hookline-nri/hookline/testkit/wait"
)

// Two plugins hang in Synchronize, are dropped, and reconnect at once, so that one of them is
// always in Synchronize.
var _ = Joining.has("L13_PluginsThatHangInSynchronizeByTurnsCostOneTimeout", Within(3*time.Second), func(t T) {
	n := t.Runtime()
	_, timeout := n.Timeouts()
	other := NewPlugin(t, "10", "other")
	Connect(t, n, other)
	var hanging []*plugin.Process
	for i := range 2 {
		p := StartProcess(t, n, plugin.Script{
			Index: fmt.Sprint(20 + i), Name: "hangs", Returns: true,
			Answers: map[plugin.Event]plugin.Answer{plugin.Synchronize: {Work: time.Hour}},
		})
		// Where plugins register one at a time, the second synchronizes once the first was dropped.
		require.NoError(t, wait.Until(WithinAMinute(t), p.Name()+" to synchronize", func(context.Context) error { return HasGot(p, plugin.Synchronize) }))
		hanging = append(hanging, p)
	}

	created := RunPods(WithinAMinute(t), n, 1, 4*timeout, PodsNamed(n, "created", 3)...)
	for i, c := range created {
		InTimeouts(t, fmt.Sprintf("pod %d is created (%v)", i, c.Err), c.Took, timeout)
	}

	t.Promise("L22", "a creation waits one timeout for the plugins that join, however often they reconnect", KeptOnStock, func(t require.TestingT) {
		RequireAllCreated(t, created)
		assert.Less(t, Slowest(created), 2*timeout)
		assert.Len(t, other.Calls().Only(plugin.RunPodSandbox), len(created), "the pods that %s received", other.Name())
	})
	t.Promise("L13", "a plugin that hangs in Synchronize is dropped each time that it reconnects", KeptOnStock, func(t require.TestingT) {
		for _, p := range hanging {
			RequireSoon(t, p.Name()+" to reconnect", func(context.Context) error {
				if times := len(p.Calls().Only(plugin.Synchronize)); times < 2 {
					return fmt.Errorf("it has synchronized %d times", times)
				}
				return nil
			})
			assert.Empty(t, p.Calls().Only(Whole...), "events of %s", p.Name())
		}
	})
})
