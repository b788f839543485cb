// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

func TestL7_CreationIsUndoneWhenItsCallerCancelsInAHook(t *testing.T) {
	t.Parallel()
	for _, caller := range canceledCallers {
		t.Run(caller.does, func(t *testing.T) {
			n := StartNode(t, outlastsCallers)
			first, second, third := ConnectTrio(t, n)
			pod, err := caller.cancels(t, n, second)
			require.Error(t, err)

			stock := KeptOnStock
			if caller.code == codes.DeadlineExceeded {
				stock = TakesForPlugins
			}
			Promise(t, "L7", "the roll-back begins while the hook still runs", stock, func(t require.TestingT) {
				// The caller knows before the runtime does: until the roll-back is
				// seen, an answer would be taken for one in time.
				RequireSoon(t, "StopPodSandbox", func(context.Context) error { return HasGot(first, plugin.StopPodSandbox) })
			})
			pod.Gate.Release()
			Promise(t, "L7", "who was asked is told of the end, while the network stands and with a living context", OnStock(UndoneDead), func(t require.TestingT) {
				// It goes on after its caller is gone.
				RequireSoon(t, "RemovePodSandbox", func(context.Context) error {
					return errors.Join(HasAnswered(first, plugin.RemovePodSandbox), HasAnswered(second, plugin.RemovePodSandbox))
				})
				RequireUndoneWhileNetworkStood(t, first, pod.Config)
				RequireUndoneWhileNetworkStood(t, second, pod.Config)
			})
			Promise(t, "L7", "who was not asked is not told", SometimesOnStock("it is asked, or gets Stop and Remove"), func(t require.TestingT) {
				assert.Empty(t, third.Calls().Named("abandoned").Events(), third.Name())
			})
			Promise(t, "L7", "nothing is left", RollBackRaces, func(t require.TestingT) { RequireNothingLeft(t, n) })
		})
	}
}
