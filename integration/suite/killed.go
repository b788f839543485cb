// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// RequireKilledAndBack kills a runtime in the midst of something, and starts it again.
func RequireKilledAndBack(t *testing.T, n *node.Node, of <-chan error) {
	t.Helper()
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.Error(t, <-of)
	require.NoError(t, n.Boot(WithinAMinute(t)))
}

// EndAllPods ends all pods that the runtime knows, as often as it takes. It must
// not take long.
func EndAllPods(t *testing.T, n *node.Node, load *Workload) {
	t.Helper()
	c := n.CRI()
	load.EndsAll()
	require.NoError(t, wait.Until(WithinAMinute(t), "the end of all pods", func(ctx context.Context) error {
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
