// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// One of three plugins rejects a pod.
var _ = Pod.has("L7_RejectedPodIsUndone", Needs{}, func(t T) {
	for at, name := range []string{"the first rejects", "the second rejects"} {
		t.Run(name, func(t T) {
			n := t.Runtime()
			all := []*plugin.Plugin{NewPlugin(t, "10", "first"), NewPlugin(t, "20", "second"), NewPlugin(t, "30", "third")}
			Connect(t, n, all...)
			all[at].On(plugin.RunPodSandbox, plugin.Fail("no room for it"))
			config := n.CRI().Pod("rejected")
			_, err := n.CRI().RunPod(WithinAMinute(t), config)
			require.ErrorContains(t, err, "no room for it")

			for _, p := range all[:at+1] {
				calls := p.Calls().Named("rejected")
				require.Equal(t, Undone, calls.Events(), p.Name())
				for _, call := range calls[1:] {
					require.NoError(t, call.Abandoned, "%s received %s under a canceled context", p.Name(), call.Event)
				}
			}
			t.Promise("L7", "a plugin that was not asked receives nothing about a rejected pod", OnStock("it receives Stop and Remove"), func(t require.TestingT) {
				for _, p := range all[at+1:] {
					assert.Empty(t, p.Calls().Named("rejected").Events(), p.Name())
				}
			})
			t.Promise("L7", "nothing is left of a rejected pod", RollBackRaces, func(t require.TestingT) { RequireNothingLeft(t, n) })
			all[at].On(plugin.RunPodSandbox, nil)
			t.Promise("L7", "the pod can be created again at once", RollBackRaces, func(t require.TestingT) {
				RequirePodRunsAgain(t, n, config)
				RequireNothingLeft(t, n)
			})
		})
	}
})
