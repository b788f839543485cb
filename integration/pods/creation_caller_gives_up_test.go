// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/suite"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

func TestL7_CreationIsUndoneWhenItsCallerGivesUpInAHook(t *testing.T) {
	t.Parallel()
	cancels := func(_ context.Context, cancel context.CancelFunc) { cancel() }
	waits := func(ctx context.Context, _ context.CancelFunc) { <-ctx.Done() }
	for _, caller := range []struct {
		does     string
		patience time.Duration // in which the pod gets to its hook
		giveUp   func(context.Context, context.CancelFunc)
	}{
		{"cancels", time.Minute, cancels},
		{"runs out of time", 12 * time.Second, waits},
	} {
		t.Run(caller.does, func(t *testing.T) {
			// The plugin's own time must not end before the caller's does.
			n := StartNode(t, func(o *node.Options) { o.RequestTimeout = 20 * time.Second })
			first, second, third := ConnectTrio(t, n)
			gate := plugin.NewGate()
			defer gate.Release()
			second.On(plugin.RunPodSandbox, gate.Hold)
			config := n.CRI().Pod("abandoned")

			ctx, cancel := context.WithTimeout(WithinAMinute(t), caller.patience)
			defer cancel()
			ran := make(chan error, 1)
			go func() {
				_, err := n.CRI().RunPod(ctx, config)
				ran <- err
			}()
			RequireClosed(t, gate.Entered(), "the second plugin's hook")
			caller.giveUp(ctx, cancel)
			require.Error(t, <-ran)

			stock := KeptOnStock
			if ctx.Err() == context.DeadlineExceeded {
				stock = TakesForPlugins
			}
			Promise(t, "L7", "the roll-back begins while the hook still runs", stock, func(t require.TestingT) {
				// The caller knows before the runtime does: until the roll-back is
				// seen, an answer would be taken for one in time.
				RequireSoon(t, "StopPodSandbox", func(context.Context) error { return HasGot(first, plugin.StopPodSandbox) })
			})
			gate.Release()
			Promise(t, "L7", "who was asked is told of the end, while the network stands and with a living context", OnStock(UndoneDead), func(t require.TestingT) {
				// It goes on after its caller is gone.
				RequireSoon(t, "RemovePodSandbox", func(context.Context) error {
					return errors.Join(HasAnswered(first, plugin.RemovePodSandbox), HasAnswered(second, plugin.RemovePodSandbox))
				})
				RequireUndoneWhileNetworkStood(t, first, config)
				RequireUndoneWhileNetworkStood(t, second, config)
			})
			Promise(t, "L7", "who was not asked is not told", stock, func(t require.TestingT) {
				assert.Empty(t, third.Calls().Named("abandoned").Events(), third.Name())
			})
			Promise(t, "L7", "nothing is left", RollBackRaces, func(t require.TestingT) { RequireNothingLeft(t, n) })
		})
	}
}
