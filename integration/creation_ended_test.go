// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	"github.com/hookline-nri/hookline/integration/cri"
	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever ends a pod that is being created ends its creation, and hears when
// all of it is undone.
func TestL11_EndOfAPodInItsHook(t *testing.T) {
	for done, end := range map[string]func(*cri.Client, context.Context, string) error{
		"stopped": (*cri.Client).StopPod,
		"removed": (*cri.Client).RemovePod,
	} {
		t.Run(done, func(t *testing.T) {
			n := startNode(t, slowRequests)
			first, second := plugin.New("10", "first"), plugin.New("20", "second")
			connect(t, n, first, second)
			pod := newInHook(t, n, first, "unwanted")
			ctx, c := withinMoments(t), n.CRI()

			stockBreaks(t, "L11", "a pod in its hook cannot be "+done+", and becomes ready", func(t require.TestingT) {
				require.NoError(t, end(c, ctx, pod.id))
				left, err := n.Leftovers(ctx) // at once
				require.NoError(t, err)
				assert.Empty(t, exceptShims(left))
				assert.ErrorContains(t, requireEnds(t, pod.ran, "RunPodSandbox"), "was "+done+" while it was being created")
				pod.gate.Release()
				requireNothingLeft(t, n)
				require.NoError(t, end(c, ctx, pod.id))
				reading := history.Read(first.Calls(), nil)
				assert.Equal(t, undone, first.Calls().Named("unwanted").Events())
				assert.Empty(t, reading.Alive())
				assert.Empty(t, second.Calls().Named("unwanted").Events())
				requirePodRunsAgain(t, n, pod.config)
				requireNothingLeft(t, n)
			})
		})
	}
}

// exceptShims leaves out what ends with a shim, which ends by itself.
func exceptShims(left []node.Leftover) (rest []node.Leftover) {
	for _, l := range left {
		if l.Kind != "process" && l.Kind != "shim socket" {
			rest = append(rest, l)
		}
	}
	return rest
}

// A pod is stopped while its network is being made.
func TestL11_EndOfAPodInItsADD(t *testing.T) {
	n := startNode(t)
	p := plugin.New("10", "told")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	config := c.Pod("unwanted")
	add, err := n.HoldAt(node.After("ptp", "ADD"), "unwanted")
	require.NoError(t, err)
	ran := inBackground(func() error { _, err := c.RunPod(ctx, config); return err })
	require.NoError(t, add.Entered(ctx))
	records, err := n.Containerd().SandboxStore().List(ctx)
	require.NoError(t, err)
	require.Len(t, records, 1)

	stockBreaks(t, "L11", "a pod that is being created cannot be stopped, and becomes ready", func(t require.TestingT) {
		require.NoError(t, c.StopPod(ctx, records[0].ID))
		assert.ErrorContains(t, requireEnds(t, ran, "RunPodSandbox"), "was stopped while it was being created")
		require.NoError(t, add.Release())
		assert.Empty(t, p.Calls().Named("unwanted").Events())
		requireNothingLeft(t, n)
		requirePodRunsAgain(t, n, config)
	})
}
