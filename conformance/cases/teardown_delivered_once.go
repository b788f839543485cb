// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"errors"
	"strings"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// ending is a way to end a pod with a running container.
type ending struct {
	how string
	end func(stop, remove func() error) error
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
	// Concurrent calls may fail each other, and are repeated.
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
}

func both(stop, remove func() error) error { return errors.Join(stop(), remove()) }

func atOnce(f, g func() error) {
	other := InBackground(g)
	_, _ = f(), <-other
}

// However a pod is ended, a plugin receives each end once and in order, those of containers
// before those of the pod.
var _ = Teardown.has("L11_EveryEndIsDeliveredOnceHoweverAPodEnds", Needs{}, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	for _, e := range endings {
		t.Run(e.how, func(t T) {
			p := NewPlugin(t, "10", "receives")
			Connect(t, n, p)
			l := NewLife(t, n, strings.ReplaceAll(strings.ReplaceAll(e.how, ",", ""), " ", "-"))
			require.NoError(t, e.end(
				func() error { return c.StopPod(ctx, l.Pod) },
				func() error { return c.RemovePod(ctx, l.Pod) },
			))
			RequireNothingLeft(t, n)
			RequireEveryEndDeliveredOnce(t, p, l)
		})
	}
})

// A stopped pod takes no new container.
var _ = Teardown.has("L11_NoContainerIsCreatedInAStoppedPod", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "receives")
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("stopped")
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	require.NoError(t, c.StopPod(ctx, pod))
	_, err = c.Create(ctx, pod, config, c.Container("late"))
	require.Error(t, err)
	require.Equal(t, Undone[:2], p.Calls().Of(pod).Events())
	require.NoError(t, c.RemovePod(ctx, pod))
	RequireNothingLeft(t, n)
})
