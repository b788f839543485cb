// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/cri"
	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// Whoever ends a pod that is being created ends its creation, and hears when
// all of it is undone.
func TestL11_PodInItsHookCanBeEnded(t *testing.T) {
	t.Parallel()
	const goesOn = "it cannot be ended, and becomes ready"
	for done, end := range map[string]func(*cri.Client, context.Context, string) error{
		"stopped": (*cri.Client).StopPod,
		"removed": (*cri.Client).RemovePod,
	} {
		t.Run(done, func(t *testing.T) {
			n := startTarget(t, patient)
			first, second := plugin.New("10", "first"), plugin.New("20", "second")
			connect(t, n, first, second)
			pod := newInHook(t, n, first, "unwanted")
			ctx, c := withinMoments(t), n.CRI()

			ended := inBackground(func() error { return end(c, ctx, pod.id) })
			promise(t, "L4", "the plugin is not told of the end while it is at the hook", onStock(goesOn), func(t require.TestingT) {
				requireWaiting(t, n, first, 1)
				assert.Equal(t, []plugin.Event{plugin.RunPodSandbox}, first.Calls().Named("unwanted").Events())
			})
			if !runsOnStock {
				pod.gate.Release()
			}
			errEnd := <-ended
			left, errLeft := n.Leftovers(ctx) // at once
			promise(t, "L11", "a pod in its hook can be "+done, onStock(goesOn), func(t require.TestingT) {
				require.NoError(t, errEnd)
				assert.ErrorContains(t, requireEnds(t, pod.ran, "RunPodSandbox"), "was "+done+" while it was being created")
			})
			promise(t, "L7", "who ended it hears of that when all is undone", onStock(goesOn), func(t require.TestingT) {
				require.NoError(t, errLeft)
				assert.Empty(t, exceptShims(left))
			})
			pod.gate.Release()
			promise(t, "L7", "nothing is left of it", onStock(goesOn), func(t require.TestingT) {
				requireNothingLeft(t, n)
				require.NoError(t, end(c, ctx, pod.id))
			})
			promise(t, "L3", "its end is told to the plugin that was asked", onStock(goesOn), func(t require.TestingT) {
				assert.Equal(t, undone, first.Calls().Named("unwanted").Events())
				assert.Empty(t, history.Read(first.Calls(), nil).Alive())
			})
			promise(t, "L7", "no other plugin is told of it", onStock("the next one is asked"), func(t require.TestingT) {
				assert.Empty(t, second.Calls().Named("unwanted").Events())
			})
			promise(t, "L7", "it can be created again at once", onStock("it is there"), func(t require.TestingT) {
				requirePodRunsAgain(t, n, pod.config)
				requireNothingLeft(t, n)
			})
		})
	}
}
