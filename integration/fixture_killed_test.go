// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// requireKilledAndBack kills a runtime in the midst of something, and starts it again.
func requireKilledAndBack(t *testing.T, n *node.Node, of <-chan error) {
	t.Helper()
	require.NoError(t, n.Kill(withinAMinute(t)))
	require.Error(t, <-of)
	require.NoError(t, n.Boot(withinAMinute(t)))
}

// endAllPods ends all pods that the runtime knows, as often as it takes. It must
// not take long.
func endAllPods(t *testing.T, n *node.Node, load *workload) {
	t.Helper()
	c := n.CRI()
	load.EndsAll()
	require.NoError(t, wait.Until(withinAMinute(t), "the end of all pods", func(ctx context.Context) error {
		pods, err := c.Pods(ctx)
		if err != nil {
			return err
		}
		var errs []error
		for _, pod := range pods {
			load.Ends(pod.GetId()) // it may be one that nobody had the id of
			err := c.StopPod(ctx, pod.GetId())
			if err == nil {
				err = c.RemovePod(ctx, pod.GetId())
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}))
}
