// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Two plugins are away at different times, one stays, and one was never there. Meanwhile
// containers and pods are stopped, removed, or both.
func TestL18_EndsAreToldToWhoWasAway(t *testing.T) {
	t.Parallel()
	for _, between := range []struct {
		name    string
		restart func(*node.Node, context.Context) error
		stays   breach // what stock makes of it that one stays
	}{
		{"", func(*node.Node, context.Context) error { return nil }, keptOnStock},
		{", the runtime being killed in between", (*node.Node).Kill, onStock("pods of before a restart end untold")},
		{", the runtime being restarted in between", (*node.Node).Stop, onStock("pods of before a restart end untold")},
	} {
		t.Run("away"+between.name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t)
			c := n.CRI()
			stays := newNamed(t, n, plugin.Script{Index: "20", Name: "stays", Returns: true})
			first := newNamed(t, n, plugin.Script{Index: "10", Name: "first", Returns: true})
			second := newNamed(t, n, plugin.Script{Index: "30", Name: "second", Returns: true})
			restart := func(there ...*named) {
				var had []int
				for _, p := range there {
					had = append(had, len(p.connections()))
				}
				require.NoError(t, between.restart(n, withinAMinute(t)))
				if between.name == "" {
					return
				}
				require.NoError(t, n.Boot(withinAMinute(t)))
				for i, p := range there {
					p.requireBack(t, had[i])
				}
			}
			emptied, stopped, ended, removed, lasts := newLife(t, n, "emptied"), newLife(t, n, "stopped"), newLife(t, n, "ended"), newLife(t, n, "removed"), newLife(t, n, "lasts")

			first.goes(t)
			restart(stays, second)
			unseen := newLife(t, n, "unseen")
			ended.End(t)
			second.goes(t)
			restart(stays)
			require.NoError(t, c.Stop(withinAMinute(t), emptied.Container, 10*time.Second))
			require.NoError(t, c.Remove(withinAMinute(t), emptied.Container))
			require.NoError(t, c.StopPod(withinAMinute(t), stopped.Pod))
			require.NoError(t, c.RemovePod(withinAMinute(t), removed.Pod))
			unseen.End(t)
			restart(stays)
			first.comes(t)
			second.comes(t)
			late := newNamed(t, n, plugin.Script{Index: "40", Name: "late", Returns: true})

			promise(t, "L18", "who was away is told at once of each end that it missed", onStock(neverHears), func(t require.TestingT) {
				for _, p := range []*named{first, second} {
					p.requireTold(t, emptied.Pod, plugin.StopContainer, plugin.RemoveContainer)
					p.requireTold(t, stopped.Pod, plugin.StopContainer, plugin.StopPodSandbox)
					p.requireTold(t, removed.Pod, plugin.StopContainer, plugin.StopPodSandbox, plugin.RemoveContainer, plugin.RemovePodSandbox)
				}
				first.requireTold(t, ended.Pod, teardown...)
			})
			promise(t, "L3", "it is not told of what it did not know, nor again of what it was told", keptOnStock, func(t require.TestingT) {
				assert.Empty(t, first.sinceReturn(unseen.Pod))
				assert.Empty(t, second.sinceReturn(ended.Pod))
				assert.Empty(t, first.sinceReturn(lasts.Pod))
				for _, l := range []life{ended, removed, unseen, stopped, emptied} {
					assert.Empty(t, late.sinceReturn(l.Pod), "it was never there")
				}
			})
			removeAllPods(withinAMinute(t), t, c)
			for _, p := range []*named{first, second} {
				promise(t, "L18", p.Name()+" was told of the end of all that it knew, in order", onStock(neverHears), func(t require.TestingT) {
					p.requireLawful(t)
				})
			}
			promise(t, "L15", "who comes later is told of the end of what there was then", onStock("pods of before it came end untold"), func(t require.TestingT) {
				late.requireLawful(t, stopped.Pod)
			})
			promise(t, "L3", "who stays is told of each end", between.stays, func(t require.TestingT) { stays.requireLawful(t) })
			requireNothingLeftButSockets(t, n)
		})
	}
}

// A stop that timed out was not heard. The plugin is dropped, wakes up and comes back.
func TestL18_StopThatTimedOutIsToldAgainAtOnce(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"at once": false, "after the runtime was killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, func(o *node.Options) { o.RequestTimeout = time.Second })
			ctx, c := withinAMinute(t), n.CRI()
			p := newNamed(t, n, plugin.Script{
				Index: "10", Name: "freezes", Returns: true,
				Answers: map[plugin.Event]plugin.Answer{plugin.StopPodSandbox: {Freeze: true}},
			})
			stopped, ended := newLife(t, n, "stopped"), newLife(t, n, "ended")
			require.NoError(t, c.StopPod(ctx, stopped.Pod))
			require.NoError(t, p.process().Frozen(ctx))
			requireSoon(t, "it to be dropped", func(context.Context) error { return p.isAway(t) })
			ended.End(t)
			if restarts {
				require.NoError(t, n.Kill(ctx))
				require.NoError(t, n.Boot(ctx))
			}
			require.NoError(t, p.process().Thaw())
			p.requireBack(t, 1)

			promise(t, "L18", "it is told of the stop again, while the pod is there", onStock(neverHears), func(t require.TestingT) {
				p.requireTold(t, stopped.Pod, plugin.StopPodSandbox)
				left, err := c.Left(ctx)
				require.NoError(t, err)
				assert.Contains(t, lines(left), "CRI pod "+stopped.Pod)
			})
			promise(t, "L18", "it is told of what ended meanwhile", onStock(neverHears), func(t require.TestingT) {
				p.requireTold(t, ended.Pod, teardown...)
			})
			require.NoError(t, c.RemovePod(ctx, stopped.Pod))
			promise(t, "L18", "it was told of the end of all that it knew, in order", onStock(neverHears), func(t require.TestingT) { p.requireLawful(t) })
			promise(t, "L3", "it is told of the removal when it comes, and the stop does not come again", onStock(neverHears), func(t require.TestingT) {
				p.requireTold(t, stopped.Pod, plugin.StopPodSandbox, plugin.RemoveContainer, plugin.RemovePodSandbox)
			})
			requireNothingLeftButSockets(t, n)
		})
	}
}
