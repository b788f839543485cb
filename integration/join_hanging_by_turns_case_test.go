// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// Two plugins hang in Synchronize, are dropped, and come back at once, so that
// there is always one that synchronizes.
func TestL13_PluginsThatHangInSynchronizeByTurnsCostOneTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second
	n := startTarget(t, timeouts{request: timeout, registration: timeout})
	other := plugin.New("10", "other")
	connect(t, n, other)
	var hanging []*plugin.Process
	for i := range 2 {
		p := startProcess(t, n, plugin.Script{
			Index: fmt.Sprint(20 + i), Name: "hangs", Returns: true,
			Answers: map[plugin.Event]plugin.Answer{plugin.Synchronize: {Work: time.Hour}},
		})
		requireSoon(t, p.Name()+" to synchronize", func(context.Context) error { return hasGot(p, plugin.Synchronize) })
		hanging = append(hanging, p)
	}

	created := runPods(withinAMinute(t), n, 1, 4*timeout, podsNamed(n, "created", 3)...)
	for i, c := range created {
		inTimeouts(t, fmt.Sprintf("pod %d is created (%v)", i, c.err), c.took, timeout)
	}

	promise(t, "L22", "a creation waits one timeout for those who join, however often they come back", keptOnStock, func(t require.TestingT) {
		requireAllCreated(t, created)
		assert.Less(t, slowest(created), 2*timeout)
		assert.Len(t, other.Calls().Only(plugin.RunPodSandbox), len(created), "the pods that %s was told of", other.Name())
	})
	promise(t, "L13", "a plugin that hangs in Synchronize is dropped, whenever it comes back", keptOnStock, func(t require.TestingT) {
		for _, p := range hanging {
			requireSoon(t, p.Name()+" to come back", func(context.Context) error {
				if times := len(p.Calls().Only(plugin.Synchronize)); times < 2 {
					return fmt.Errorf("it has synchronized %d times", times)
				}
				return nil
			})
			assert.Empty(t, p.Calls().Only(whole...), "events of %s", p.Name())
		}
	})
}
