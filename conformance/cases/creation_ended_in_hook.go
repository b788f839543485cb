// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/cri"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A caller that stops or removes a pod that is being created ends the creation. The call
// returns when all of the pod is undone.
var _ = Pod.has("L11_PodInItsHookCanBeEnded", Patient, func(t T) {
	const goesOn = "the pod cannot be ended, and becomes Ready"
	for done, end := range map[string]func(*cri.Client, context.Context, string) error{
		"stopped": (*cri.Client).StopPod,
		"removed": (*cri.Client).RemovePod,
	} {
		t.Run(done, func(t T) {
			n := t.Runtime()
			first, second := NewPlugin(t, "10", "first"), NewPlugin(t, "20", "second")
			Connect(t, n, first, second)
			pod := NewInHook(t, n, first, "unwanted")
			ctx, c := WithinMoments(t), n.CRI()

			ended := InBackground(func() error { return end(c, ctx, pod.ID) })
			t.Promise("L4", "the plugin does not receive the end while it handles the hook", KeptOnStock, func(t require.TestingT) {
				RequireWaiting(t, n, first, 1)
				assert.Equal(t, []plugin.Event{plugin.RunPodSandbox}, first.Calls().Named("unwanted").Events())
			})
			if len(ended) == 0 { // the caller that ends it waits for the plugin
				pod.Gate.Release()
			}
			errEnd := <-ended
			left, errLeft := n.Leftovers(ctx) // at once
			var errRan error
			t.Promise("L11", "a pod in its hook can be "+done, OnStock(goesOn), func(t require.TestingT) {
				require.NoError(t, errEnd)
				errRan = RequireEnds(t, pod.Ran, "RunPodSandbox")
				assert.Error(t, errRan)
			})
			t.Words("L11", "the error of the creation says that the pod was "+done, OnStock(goesOn), func(t require.TestingT) {
				assert.ErrorContains(t, errRan, "was "+done+" while it was being created")
			})
			t.Promise("L7", "the call that ends the pod returns when all is undone", OnStock(goesOn), func(t require.TestingT) {
				require.NoError(t, errLeft)
				assert.Empty(t, ExceptShims(left))
			})
			pod.Gate.Release()
			t.Promise("L7", "nothing is left of the pod", OnStock(goesOn), func(t require.TestingT) {
				RequireNothingLeft(t, n)
				again, cancel := context.WithTimeout(context.Background(), time.Minute) // the moments are over by then
				defer cancel()
				require.NoError(t, end(c, again, pod.ID))
			})
			t.Promise("L3", "the plugin that was asked receives the end", OnStock(goesOn), func(t require.TestingT) {
				assert.Equal(t, Undone, first.Calls().Named("unwanted").Events())
				assert.Empty(t, history.Read(first.Calls(), nil).Alive())
			})
			t.Promise("L7", "no other plugin receives anything about the pod", OnStock("the next plugin is asked"), func(t require.TestingT) {
				assert.Empty(t, second.Calls().Named("unwanted").Events())
			})
			t.Promise("L7", "the pod can be created again at once", OnStock("the pod still exists"), func(t require.TestingT) {
				RequirePodRunsAgain(t, n, pod.Config)
				RequireNothingLeft(t, n)
			})
		})
	}
})
