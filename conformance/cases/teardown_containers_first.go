// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// One container exits while the pod is stopped, and another was never started. Both end before
// their pod.
var _ = Teardown.has("L1_ContainersEndBeforeTheirPod", Needs{}, func(t T) {
	const pods = 20
	n := t.Runtime()
	p := NewPlugin(t, "10", "watches")
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	var all errgroup.Group
	all.SetLimit(4)
	for i := range pods {
		all.Go(func() error {
			config := c.Pod(fmt.Sprintf("brief-%d", i))
			pod, err := c.RunPod(ctx, config)
			if err != nil {
				return err
			}
			if _, err := c.Create(ctx, pod, config, c.Container("unstarted")); err != nil {
				return err
			}
			exits, err := c.Create(ctx, pod, config, c.Container("exits", "-now"))
			if err != nil {
				return err
			}
			if err := c.Start(ctx, exits); err != nil {
				return err
			}
			if err := c.StopPod(ctx, pod); err != nil {
				return err
			}
			return c.RemovePod(ctx, pod)
		})
	}
	require.NoError(t, all.Wait())
	RequireNothingLeft(t, n)

	t.Promise("L1", "StopContainer of all containers comes before StopPodSandbox", OnStock("it comes after it for containers that do not run"), func(t require.TestingT) {
		assert.Empty(t, history.Read(p.Calls(), nil).Faults())
	})
	t.Promise("L3", "plugins receive the end of each", KeptOnStock, func(t require.TestingT) {
		assert.Empty(t, history.Read(p.Calls(), nil).Alive())
		assert.Len(t, p.Calls().Only(plugin.StopContainer), 2*pods)
		assert.Len(t, p.Calls().Only(plugin.StopPodSandbox), pods)
	})
})
