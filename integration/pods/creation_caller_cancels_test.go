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
				// The caller knows before the runtime does: until the roll-back has begun, an
				// answer would count as in time.
				RequireSoon(t, "StopPodSandbox", func(context.Context) error { return HasGot(first, plugin.StopPodSandbox) })
			})
			pod.Gate.Release()
			Promise(t, "L7", "a plugin that was asked receives the end, while the network stands and under a valid context", OnStock(UndoneDead), func(t require.TestingT) {
				// The roll-back goes on after its caller has canceled.
				RequireSoon(t, "RemovePodSandbox", func(context.Context) error {
					return errors.Join(HasAnswered(first, plugin.RemovePodSandbox), HasAnswered(second, plugin.RemovePodSandbox))
				})
				RequireUndoneWhileNetworkStood(t, first, pod.Config)
				RequireUndoneWhileNetworkStood(t, second, pod.Config)
			})
			Promise(t, "L7", "a plugin that was not asked receives nothing", SometimesOnStock("it is asked, or receives Stop and Remove"), func(t require.TestingT) {
				assert.Empty(t, third.Calls().Named("abandoned").Events(), third.Name())
			})
			Promise(t, "L7", "nothing is left", RollBackRaces, func(t require.TestingT) { RequireNothingLeft(t, n) })
		})
	}
}
