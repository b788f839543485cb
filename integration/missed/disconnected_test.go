// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Two plugins are disconnected at different times, one stays connected, and one connects later for
// the first time. Meanwhile containers and pods are stopped, removed, or both.
func TestL18_EndsAreDeliveredOnReturn(t *testing.T) {
	t.Parallel()
	for _, between := range []struct {
		name    string
		restart func(*node.Node, context.Context) error
		stays   Breach // how stock breaks the promise for the one that stays
	}{
		{"", func(*node.Node, context.Context) error { return nil }, KeptOnStock},
		{", the runtime being killed in between", (*node.Node).Kill, OnStock("ends of pods from before a restart are not delivered")},
		{", the runtime being restarted in between", (*node.Node).Stop, OnStock("ends of pods from before a restart are not delivered")},
	} {
		t.Run("disconnected"+between.name, func(t *testing.T) {
			t.Parallel()
			n := StartNode(t)
			c := n.CRI()
			stays := JoinNamed(t, n, plugin.Script{Index: "20", Name: "stays", Returns: true})
			first := JoinNamed(t, n, plugin.Script{Index: "10", Name: "first", Returns: true})
			second := JoinNamed(t, n, plugin.Script{Index: "30", Name: "second", Returns: true})
			restart := func(there ...*NamedPlugin) {
				var had []int
				for _, p := range there {
					had = append(had, len(p.Connections()))
				}
				require.NoError(t, between.restart(n, WithinAMinute(t)))
				if between.name == "" {
					return
				}
				require.NoError(t, n.Boot(WithinAMinute(t)))
				for i, p := range there {
					p.RequireBack(t, had[i])
				}
			}
			emptied, stopped, ended, removed, lasts := NewLife(t, n, "emptied"), NewLife(t, n, "stopped"), NewLife(t, n, "ended"), NewLife(t, n, "removed"), NewLife(t, n, "lasts")

			first.Goes(t)
			restart(stays, second)
			unseen := NewLife(t, n, "unseen")
			ended.End(t)
			second.Goes(t)
			restart(stays)
			require.NoError(t, c.Stop(WithinAMinute(t), emptied.Container, 10*time.Second))
			require.NoError(t, c.Remove(WithinAMinute(t), emptied.Container))
			require.NoError(t, c.StopPod(WithinAMinute(t), stopped.Pod))
			require.NoError(t, c.RemovePod(WithinAMinute(t), removed.Pod))
			unseen.End(t)
			restart(stays)
			first.Comes(t)
			second.Comes(t)
			late := JoinNamed(t, n, plugin.Script{Index: "40", Name: "late", Returns: true})

			Promise(t, "L18", "a plugin that reconnects receives each missed end at once", OnStock(NeverHears), func(t require.TestingT) {
				for _, p := range []*NamedPlugin{first, second} {
					p.RequireDelivered(t, emptied.Pod, plugin.StopContainer, plugin.RemoveContainer)
					p.RequireDelivered(t, stopped.Pod, plugin.StopContainer, plugin.StopPodSandbox)
					p.RequireDelivered(t, removed.Pod, plugin.StopContainer, plugin.StopPodSandbox, plugin.RemoveContainer, plugin.RemovePodSandbox)
				}
				first.RequireDelivered(t, ended.Pod, EveryEnd...)
			})
			Promise(t, "L3", "it receives no end of what it did not know, and no end twice", KeptOnStock, func(t require.TestingT) {
				assert.Empty(t, first.SinceReturn(unseen.Pod))
				assert.Empty(t, second.SinceReturn(ended.Pod))
				assert.Empty(t, first.SinceReturn(lasts.Pod))
				for _, l := range []Life{ended, removed, unseen, stopped, emptied} {
					assert.Empty(t, late.SinceReturn(l.Pod), "it never knew the pod")
				}
			})
			RemoveAllPods(WithinAMinute(t), t, c)
			for _, p := range []*NamedPlugin{first, second} {
				Promise(t, "L18", p.Name()+" received the end of all that it knew, in order", OnStock(NeverHears), func(t require.TestingT) {
					p.RequireLawful(t)
				})
			}
			Promise(t, "L15", "a plugin that connects later receives the end of all that existed then", OnStock("ends of earlier pods are not delivered"), func(t require.TestingT) {
				late.RequireLawful(t, stopped.Pod)
			})
			Promise(t, "L3", "a plugin that stays connected receives each end", between.stays, func(t require.TestingT) { stays.RequireLawful(t) })
			RequireNothingLeftButSockets(t, n)
		})
	}
}

// A stop that timed out counts as missed. The plugin is dropped, wakes up and reconnects.
func TestL18_StopThatTimedOutIsDeliveredAgainAtOnce(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"at once": false, "after the runtime was killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := StartNode(t, func(o *node.Options) { o.RequestTimeout = time.Second })
			ctx, c := WithinAMinute(t), n.CRI()
			p := JoinNamed(t, n, plugin.Script{
				Index: "10", Name: "freezes", Returns: true,
				Answers: map[plugin.Event]plugin.Answer{plugin.StopPodSandbox: {Freeze: true}},
			})
			stopped, ended := NewLife(t, n, "stopped"), NewLife(t, n, "ended")
			require.NoError(t, c.StopPod(ctx, stopped.Pod))
			require.NoError(t, p.Process().Frozen(ctx))
			RequireSoon(t, "it to be dropped", func(context.Context) error { return p.IsDisconnected(t) })
			ended.End(t)
			if restarts {
				require.NoError(t, n.Kill(ctx))
				require.NoError(t, n.Boot(ctx))
			}
			require.NoError(t, p.Process().Thaw())
			p.RequireBack(t, 1)

			Promise(t, "L18", "it receives the stop again, while the pod exists", OnStock(NeverHears), func(t require.TestingT) {
				p.RequireDelivered(t, stopped.Pod, plugin.StopPodSandbox)
				left, err := c.Left(ctx)
				require.NoError(t, err)
				assert.Contains(t, Lines(left), "CRI pod "+stopped.Pod)
			})
			require.NoError(t, c.RemovePod(ctx, stopped.Pod))
			Promise(t, "L18", "it received the end of all that it knew, in order", OnStock(NeverHears), func(t require.TestingT) { p.RequireLawful(t) })
			Promise(t, "L3", "it receives the later removal, and not the stop again", OnStock(NeverHears), func(t require.TestingT) {
				p.RequireDelivered(t, stopped.Pod, plugin.StopPodSandbox, plugin.RemoveContainer, plugin.RemovePodSandbox)
			})
			RequireNothingLeftButSockets(t, n)
		})
	}
}
