// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// Of two containers, one exits while the pod is stopped, the other was never
// started. Both end before their pod does.
func TestL1_ContainersEndBeforeTheirPod(t *testing.T) {
	const pods = 20
	n := startNode(t)
	p := plugin.New("10", "watches")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
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
	requireNothingLeft(t, n)

	stockBreaks(t, "L1", "a container that does not run when its pod is stopped gets its StopContainer after StopPodSandbox", func(t require.TestingT) {
		reading := history.Read(p.Calls(), nil)
		assert.Empty(t, reading.Faults())
		assert.Empty(t, reading.Alive())
		assert.Len(t, p.Calls().Only(plugin.StopContainer), 2*pods)
		assert.Len(t, p.Calls().Only(plugin.StopPodSandbox), pods)
	})
}
