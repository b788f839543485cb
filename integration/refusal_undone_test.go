// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// undone is what a plugin that was asked for a pod is told of it when the pod
// does not come to be.
var undone = []plugin.Event{plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox}

// connectTrio is three plugins of which the first two look at the pod's network at
// its end.
func connectTrio(t *testing.T, n *node.Node) (first, second, third *plugin.Plugin) {
	first, second, third = plugin.New("10", "first"), plugin.New("20", "second"), plugin.New("30", "third")
	for _, p := range []*plugin.Plugin{first, second} {
		p.On(plugin.StopPodSandbox, agreesIfNetworkStands(n))
		p.On(plugin.RemovePodSandbox, agreesIfNetworkStands(n))
	}
	connect(t, n, first, second, third)
	return first, second, third
}

// requireUndoneWhileNetworkStood checks what a plugin that was asked was told of a pod.
func requireUndoneWhileNetworkStood(t require.TestingT, p *plugin.Plugin, pod *runtime.PodSandboxConfig) {
	calls := p.Calls().Named(pod.GetMetadata().GetName())
	assert.Equal(t, undone, calls.Events(), p.Name())
	for _, call := range calls.Only(plugin.StopPodSandbox, plugin.RemovePodSandbox) {
		assert.NoError(t, call.Err, "%s looked at the network", p.Name())
		assert.NoError(t, call.Abandoned, "%s got %s under a dead context", p.Name(), call.Event)
	}
}

// runRefused has a plugin refuse a pod, which is returned.
func runRefused(t *testing.T, p *plugin.Plugin, n *node.Node) *runtime.PodSandboxConfig {
	t.Helper()
	p.On(plugin.RunPodSandbox, plugin.Fail("no room for it"))
	config := n.CRI().Pod("refused")
	_, err := n.CRI().RunPod(withinAMinute(t), config)
	require.ErrorContains(t, err, "no room for it")
	return config
}

func TestL7_RefusalUndoes(t *testing.T) {
	n := startNode(t)
	first, second, third := connectTrio(t, n)

	config := runRefused(t, second, n)

	requireUndoneWhileNetworkStood(t, first, config)
	requireUndoneWhileNetworkStood(t, second, config)
	stockBreaks(t, "L7", "a plugin that was never asked gets Stop and Remove of a refused pod", func(t require.TestingT) {
		assert.Empty(t, third.Calls().Named("refused").Events(), third.Name())
		requireNothingLeft(t, n)
		second.On(plugin.RunPodSandbox, nil)
		requirePodRunsAgain(t, n, config)
		requireNothingLeft(t, n)
	})
}

func TestL7_FirstRefusalTellsOnlyTheFirst(t *testing.T) {
	n := startNode(t)
	first, second, third := connectTrio(t, n)

	config := runRefused(t, first, n)

	requireUndoneWhileNetworkStood(t, first, config)
	stockBreaks(t, "L7", "plugins that were never asked get Stop and Remove of a refused pod", func(t require.TestingT) {
		for _, p := range []*plugin.Plugin{second, third} {
			assert.Empty(t, p.Calls().Named("refused").Events(), p.Name())
		}
		requireNothingLeft(t, n)
	})
}

// A plugin that refuses may fail again when told of the end.
func TestL7_FailureInTheRollBackStopsNothing(t *testing.T) {
	n := startNode(t)
	first, second, _ := connectTrio(t, n)
	first.On(plugin.StopPodSandbox, plugin.Fail("cannot stop"))
	first.On(plugin.RemovePodSandbox, plugin.Fail("cannot remove"))

	config := runRefused(t, second, n)

	require.Equal(t, undone, first.Calls().Named("refused").Events())
	stockBreaks(t, "L9", "one plugin's failure in the roll-back keeps Stop and Remove from the next", func(t require.TestingT) {
		requireUndoneWhileNetworkStood(t, second, config)
		requireNothingLeft(t, n)
	})
}

// The exit monitor of a sandbox deletes its task when the roll-back ends the
// process. On stock both are at it, and about one roll-back in twenty fails.
func TestL7_RollBackWaitsForTheSandbox(t *testing.T) {
	tries := 60
	if onStock {
		tries = 400 // up to the first that fails
	}
	n := startNode(t)
	refuses := plugin.New("10", "refuses")
	refuses.On(plugin.RunPodSandbox, plugin.Fail("not here"))
	connect(t, n, refuses)
	config := n.CRI().Pod("refused")

	stockBreaks(t, "L7", "the roll-back and the exit monitor delete the sandbox at once, and the pod stays", func(t require.TestingT) {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		for range tries {
			_, err := n.CRI().RunPod(ctx, config)
			require.ErrorContains(t, err, "not here")
			requireNothingLeft(t, n)
		}
	})
}

func TestL7_CallerGivesUp(t *testing.T) {
	cancels := func(_ context.Context, cancel context.CancelFunc) { cancel() }
	waits := func(ctx context.Context, _ context.CancelFunc) { <-ctx.Done() }
	for _, caller := range []struct {
		does     string
		patience time.Duration
		giveUp   func(context.Context, context.CancelFunc)
	}{
		{"cancels", time.Minute, cancels},
		{"runs out of time", 3 * time.Second, waits},
	} {
		t.Run(caller.does, func(t *testing.T) {
			// The plugin's own time must not end before the caller's does.
			n := startNode(t, func(o *node.Options) { o.RequestTimeout = 20 * time.Second })
			first, second, third := connectTrio(t, n)
			gate := plugin.NewGate()
			defer gate.Release()
			second.On(plugin.RunPodSandbox, gate.Hold)
			config := n.CRI().Pod("abandoned")

			ctx, cancel := context.WithTimeout(withinAMinute(t), caller.patience)
			defer cancel()
			ran := make(chan error, 1)
			go func() {
				_, err := n.CRI().RunPod(ctx, config)
				ran <- err
			}()
			requireClosed(t, gate.Entered(), "the second plugin's hook")
			caller.giveUp(ctx, cancel)
			require.Error(t, <-ran)

			stockBreaks(t, "L7", "when the caller "+caller.does+" during a hook, the roll-back runs under its dead context", func(t require.TestingT) {
				// The caller knows before the runtime does: until the roll-back is
				// seen, an answer would be taken for one in time.
				requireSoon(t, "StopPodSandbox", func(context.Context) error { return hasGot(first, plugin.StopPodSandbox) })
				gate.Release()
				// It goes on after its caller is gone.
				requireSoon(t, "RemovePodSandbox", func(context.Context) error {
					return errors.Join(hasAnswered(first, plugin.RemovePodSandbox), hasAnswered(second, plugin.RemovePodSandbox))
				})
				requireUndoneWhileNetworkStood(t, first, config)
				requireUndoneWhileNetworkStood(t, second, config)
				assert.Empty(t, third.Calls().Named("abandoned").Events(), third.Name())
				requireNothingLeft(t, n)
				requirePodRunsAgain(t, n, config)
				requireNothingLeft(t, n)
			})
		})
	}
}
