// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A peer registers under a new name as soon as it is asked about a pod under the previous one.
// Each of its answers takes almost the request timeout.
var _ = Joining.has("L22_PeerUnderManyNamesCostsTwoTimeouts", Within(2*time.Second), func(t T) {
	const names = 8
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	ctx, cancel := context.WithCancel(WithinAMinute(t))
	var peers sync.WaitGroup
	t.Cleanup(func() { cancel(); peers.Wait() })
	turns := make([]chan struct{}, names)
	for name := range names {
		turns[name] = make(chan struct{})
	}
	comes := func(name int) error {
		peer := NewPlugin(t, fmt.Sprint(20+name), "peer")
		peer.Subscribe(plugin.RunPodSandbox)
		takesLong := plugin.Delay(timeout * 9 / 10)
		var next sync.Once
		peer.On(plugin.RunPodSandbox, func(asked context.Context, call *plugin.Call) error {
			if name+1 < names {
				next.Do(func() { close(turns[name+1]) })
			}
			return takesLong(asked, call)
		})
		t.Cleanup(peer.Crash)
		return peer.Connect(ctx, n.NRISocket())
	}
	for name, turn := range turns[1:] {
		peers.Go(func() {
			select {
			case <-turn:
				_ = comes(name + 1) // it may be too late for the pod, or dropped
			case <-ctx.Done():
			}
		})
	}
	require.NoError(t, comes(0))

	created := RunPods(ctx, n, 1, 2*names*timeout, PodsNamed(n, "created", 1)...)
	InTimeouts(t, fmt.Sprintf("the pod is created (%v)", created[0].Err), created[0].Took, timeout)
	t.Promise("L22", "a creation waits two timeouts for plugins that register meanwhile, whatever their names", KeptOnStock, func(t require.TestingT) {
		RequireAllCreated(t, created)
		assert.GreaterOrEqual(t, created[0].Took, timeout*9/10, "the first was asked")
		assert.Less(t, created[0].Took, 4*timeout, "one timeout for the plugin that was connected, two for later ones, and the work")
	})
})
