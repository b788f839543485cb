// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"strings"
	"testing"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ending is a way to end a pod with a running container.
type ending struct {
	how    string
	before func(*testing.T, *node.Node, *plugin.Plugin, life)
	end    func(stop, remove func() error) error
}

var endings = []ending{
	{how: "both", end: both},
	{how: "both, twice", end: func(stop, remove func() error) error {
		return errors.Join(both(stop, remove), both(stop, remove))
	}},
	{how: "each twice", end: func(stop, remove func() error) error {
		return errors.Join(stop(), stop(), remove(), remove())
	}},
	{how: "only removed", end: func(_, remove func() error) error { return remove() }},
	{how: "stopped when removed", end: func(stop, remove func() error) error {
		return errors.Join(remove(), stop())
	}},
	// What is at it at once may fail one another, and is repeated.
	{how: "both at once", end: func(stop, remove func() error) error {
		atOnce(stop, remove)
		return both(stop, remove)
	}},
	{how: "stopped twice at once", end: func(stop, remove func() error) error {
		atOnce(stop, stop)
		return both(stop, remove)
	}},
	{how: "removed twice at once", end: func(_, remove func() error) error {
		atOnce(remove, remove)
		return remove()
	}},
	{how: "its process died", end: both, before: func(t *testing.T, n *node.Node, p *plugin.Plugin, l life) {
		killSandbox(t, p, l.pod)
		requirePodNotReady(withinAMinute(t), t, n, l.pod)
	}},
	{how: "its process died, only removed", before: func(t *testing.T, n *node.Node, p *plugin.Plugin, l life) {
		killSandbox(t, p, l.pod)
		requirePodNotReady(withinAMinute(t), t, n, l.pod)
	}, end: func(_, remove func() error) error { return remove() }},
}

func both(stop, remove func() error) error { return errors.Join(stop(), remove()) }

func atOnce(f, g func() error) {
	other := inBackground(g)
	_, _ = f(), <-other
}

// However a pod is ended, each end is told once and in order, its containers'
// before its own.
func TestL11_EveryEndIsToldOnce(t *testing.T) {
	n := startNode(t)
	p := plugin.New("10", "told")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	for _, e := range endings {
		t.Run(e.how, func(t *testing.T) {
			l := newLife(t, n, strings.ReplaceAll(strings.ReplaceAll(e.how, ",", ""), " ", "-"))
			if e.before != nil {
				e.before(t, n, p, l)
			}
			require.NoError(t, e.end(
				func() error { return c.StopPod(ctx, l.pod) },
				func() error { return c.RemovePod(ctx, l.pod) },
			))
			if e.before == nil {
				requireNothingLeft(t, n)
			} else {
				requireNothingLeftButSockets(t, n)
			}
			calls := p.Calls().Of(l.pod)
			assert.Equal(t, whole[:5], calls.Events()[:5])
			assert.ElementsMatch(t, teardown, calls.Events()[5:])
			reading := history.Read(p.Calls(), nil)
			assert.Empty(t, reading.Faults())
			assert.Empty(t, reading.Alive())
		})
	}
}

// A stop that fails half-way is repeated, but not told again.
func TestL11_RepeatedStopThatFailed(t *testing.T) {
	n := startNode(t)
	p := plugin.New("10", "told")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("stuck"))
	require.NoError(t, err)
	del, err := n.HoldAt(node.Before("ptp", "DEL"), "stuck")
	require.NoError(t, err)
	stopped := inBackground(func() error { return c.StopPod(ctx, pod) })
	require.NoError(t, del.Entered(ctx))
	require.NoError(t, del.Fail())
	require.ErrorContains(t, <-stopped, "held and failed")
	require.Equal(t, undone[:2], p.Calls().Of(pod).Events())

	require.NoError(t, c.StopPod(ctx, pod))
	require.NoError(t, c.RemovePod(ctx, pod))
	require.Equal(t, undone, p.Calls().Of(pod).Events())
	requireNothingLeft(t, n)
}

// A removal whose stop fails half-way leaves the pod in the list, and removes
// it when it is repeated.
func TestL11_RepeatedRemovalThatFailed(t *testing.T) {
	n := startNode(t)
	p := plugin.New("10", "told")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("stuck"))
	require.NoError(t, err)
	del, err := n.HoldAt(node.Before("ptp", "DEL"), "stuck")
	require.NoError(t, err)
	removed := inBackground(func() error { return c.RemovePod(ctx, pod) })
	require.NoError(t, del.Entered(ctx))
	require.NoError(t, del.Fail())
	require.ErrorContains(t, <-removed, "held and failed")
	require.Equal(t, undone[:2], p.Calls().Of(pod).Events())
	require.Contains(t, callsThatShow(ctx, t, n, pod), "ListPodSandbox")

	require.NoError(t, c.RemovePod(ctx, pod))
	require.Equal(t, undone, p.Calls().Of(pod).Events())
	requireNothingLeft(t, n)
}

// There is no way into a pod that is stopped.
func TestL11_NoContainerInAStoppedPod(t *testing.T) {
	n := startNode(t)
	p := plugin.New("10", "told")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	config := c.Pod("stopped")
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	require.NoError(t, c.StopPod(ctx, pod))
	_, err = c.Create(ctx, pod, config, c.Container("late"))
	require.Error(t, err)
	require.Equal(t, undone[:2], p.Calls().Of(pod).Events())
	require.NoError(t, c.RemovePod(ctx, pod))
	requireNothingLeft(t, n)
}
