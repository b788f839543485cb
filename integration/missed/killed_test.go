// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The runtime ends at any step of the end of a pod or container. A disconnected plugin receives
// that end nevertheless: it is on the disk by then, or the pod or container still exists and ends
// again.
func TestL18_EndsAreDeliveredWhereverTheRuntimeWasKilled(t *testing.T) {
	t.Parallel()
	for name, newHeld := range map[string]func(*testing.T, *node.Node) *heldEnds{
		"ends":        holdEnds,
		"a rejection": holdUndo,
	} {
		for _, was := range []struct {
			name    string
			ends    func(*node.Node, context.Context) error
			returns bool // whether the plugin reconnects before the pods end for good
		}{
			{"killed", (*node.Node).Kill, false},
			{"killed, and the plugin reconnects before they end for good", (*node.Node).Kill, true},
			{"restarted", (*node.Node).Stop, false},
		} {
			t.Run(name+", "+was.name, func(t *testing.T) {
				t.Parallel()
				n := StartNode(t, WithNeeds(Patient))
				gone := JoinNamed(t, n, plugin.Script{Index: "10", Name: "disconnected"})
				h := newHeld(t, n)
				gone.Goes(t)
				ctx := WithinAMinute(t)
				Promise(t, "L14", "each end reaches the step at which it is held", h.stock, func(t require.TestingT) { h.end(ctx, t) })
				require.NoError(t, was.ends(n, WithinAMinute(t)))
				h.release(t)
				require.NoError(t, n.Boot(WithinAMinute(t)))
				if was.returns {
					gone.Comes(t)
				}
				RemoveAllPods(WithinAMinute(t), t, n.CRI())
				if !was.returns {
					gone.Comes(t)
				}
				Promise(t, "L18", "the disconnected plugin receives the end of all that it knew, in order", OnStock(NeverHears), func(t require.TestingT) {
					gone.RequireLawful(t)
				})
				Promise(t, "L7", "nothing is left", KeptOnStock, func(t require.TestingT) {
					RequireNothingLeftButSockets(t, n)
				})
			})
		}
	}
}

// heldEnds are ends, each held at another step. A plugin receives one event at a time, so each held
// event has a plugin of its own.
type heldEnds struct {
	n       *node.Node
	stock   Breach                                  // how stock breaks several held ends
	end     func(context.Context, require.TestingT) // requests the ends, and returns when all are held
	gates   []*plugin.Gate
	holders []*plugin.Plugin // one for each gate
	hold    *node.Hold       // nil if no program holds one
	over    atomic.Bool
	ran     []<-chan error
}

// holder makes a plugin that holds an event of a pod. It subscribes only to that event and to more,
// so that no other event waits for it.
func (h *heldEnds) holder(t *testing.T, index string, event plugin.Event, pod string, more ...plugin.Event) *plugin.Plugin {
	t.Helper()
	gate := NewGate(t)
	p := plugin.New(index, "holds")
	p.Subscribe(append(more, event)...)
	p.On(event, func(ctx context.Context, call *plugin.Call) error {
		if call.Pod.GetName() != pod || h.over.Load() {
			return nil
		}
		return gate.Hold(ctx, call)
	})
	Connect(t, h.n, p)
	h.gates, h.holders = append(h.gates, gate), append(h.holders, p)
	return p
}

func (h *heldEnds) background(f func(context.Context) error) {
	h.ran = append(h.ran, InBackground(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return f(ctx)
	}))
}

// requireEntered waits until an event is held.
func (h *heldEnds) requireEntered(t require.TestingT, gate int) {
	RequireSoon(t, "an event to be held", func(context.Context) error {
		if IsOpen(h.gates[gate].Entered()) {
			return fmt.Errorf("it is not held: %s received %v", h.holders[gate].Name(), h.holders[gate].Calls().Events())
		}
		return nil
	})
}

// holdEnds holds the stops of two pods, before and after the stop is on the disk, and the removals
// of another pod and of a container.
func holdEnds(t *testing.T, n *node.Node) *heldEnds {
	t.Helper()
	h, c := &heldEnds{n: n, stock: OnStock("no plugin is asked while another one handles an event")}, n.CRI()
	h.holder(t, "20", plugin.RemovePodSandbox, "remove")
	h.holder(t, "21", plugin.RemoveContainer, "container")
	h.holder(t, "22", plugin.StopPodSandbox, "stop")
	stop, remove, container, safe := NewLife(t, n, "stop"), NewLife(t, n, "remove"), NewLife(t, n, "container"), NewLife(t, n, "safe")
	h.end = func(ctx context.Context, t require.TestingT) {
		// Calls that need answers of held plugins come first.
		for _, l := range []Life{stop, remove, container, safe} {
			require.NoError(t, c.Stop(ctx, l.Container, 0))
		}
		for _, l := range []Life{stop, remove, safe} {
			require.NoError(t, c.Remove(ctx, l.Container))
		}
		require.NoError(t, c.StopPod(ctx, remove.Pod))
		var err error
		h.hold, err = n.HoldAt(node.After("runc", "kill"), "safe") // of its sandbox, after plugins received the stop
		require.NoError(t, err)
		h.background(func(ctx context.Context) error { return c.StopPod(ctx, safe.Pod) })
		require.NoError(t, h.hold.Entered(ctx))
		for i, end := range []func(context.Context) error{
			func(ctx context.Context) error { return c.RemovePod(ctx, remove.Pod) },
			func(ctx context.Context) error { return c.Remove(ctx, container.Container) },
			func(ctx context.Context) error { return c.StopPod(ctx, stop.Pod) },
		} {
			h.background(end)
			h.requireEntered(t, i)
		}
	}
	return h
}

// holdUndo holds the roll-back of a rejected pod.
func holdUndo(t *testing.T, n *node.Node) *heldEnds {
	t.Helper()
	h := &heldEnds{n: n}
	rejects := h.holder(t, "20", plugin.StopPodSandbox, "rejected", plugin.RunPodSandbox)
	rejection := NewGate(t)
	rejects.On(plugin.RunPodSandbox, func(ctx context.Context, call *plugin.Call) error {
		if call.Pod.GetName() != "rejected" {
			return nil
		}
		return errors.Join(rejection.Hold(ctx, call), errors.New("not this one"))
	})
	h.background(func(ctx context.Context) error {
		_, err := n.CRI().RunPod(ctx, n.CRI().Pod("rejected"))
		return err
	})
	RequireClosed(t, rejection.Entered(), "RunPodSandbox of a pod to be rejected")
	h.end = func(_ context.Context, t require.TestingT) {
		rejection.Release()
		h.requireEntered(t, 0)
	}
	return h
}

// release lets all ends go on, once the runtime has ended.
func (h *heldEnds) release(t *testing.T) {
	t.Helper()
	for _, ran := range h.ran {
		require.Error(t, <-ran)
	}
	h.over.Store(true)
	for _, gate := range h.gates {
		gate.Release()
	}
	if h.hold != nil {
		require.NoError(t, h.hold.Release())
	}
	require.NoError(t, h.n.Quiet(WithinAMinute(t)))
}

// A plugin that is connected when the runtime is killed counts as disconnected from then on, and so
// does one that is killed in the same moment.
func TestL18_PluginConnectedAtAKillReceivesEnds(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := JoinNamed(t, n, plugin.Script{Index: "10", Name: "disconnected"})
	for _, ends := range []struct {
		name string
		do   func() error
	}{
		{"the runtime first", func() error { return errors.Join(n.Kill(WithinAMinute(t)), p.Process().Kill()) }},
		{"the plugin first", func() error { return errors.Join(p.Process().Kill(), n.Kill(WithinAMinute(t))) }},
	} {
		l := NewLife(t, n, "pod")
		require.NoError(t, ends.do())
		require.NoError(t, n.Boot(WithinAMinute(t)))
		l.End(t)
		p.Comes(t)
		Promise(t, "L18", "it receives the end of a pod, though it was disconnected before the runtime started: "+ends.name, OnStock(NeverHears), func(t require.TestingT) {
			p.RequireDelivered(t, l.Pod, EveryEnd...)
		})
	}
	Promise(t, "L18", "it received the end of all that it knew, in order", OnStock(NeverHears), func(t require.TestingT) { p.RequireLawful(t) })
}

// The runtime is killed while the plugin handles a missed event. The plugin receives it again, also
// if it has handled it already.
func TestL18_EndInDeliveryIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithNeeds(Patient))
	p := JoinNamed(t, n, plugin.Script{Index: "10", Name: "freezes"})
	l := NewLife(t, n, "pod")
	p.Goes(t)
	l.End(t)
	p.Script.Returns = true
	p.Script.Answers = map[plugin.Event]plugin.Answer{plugin.StopPodSandbox: {Freeze: true}}
	p.Comes(t)
	if !RunsOnStock {
		require.NoError(t, p.Process().Frozen(WithinAMinute(t)))
	}
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	require.NoError(t, p.Process().Thaw())
	p.RequireBack(t, 2)
	Promise(t, "L18", "it receives an unanswered end again, and later ends", OnStock(NeverHears), func(t require.TestingT) {
		p.RequireLawful(t)
		received := p.SinceReturn(l.Pod) // it may have answered the first one already
		assert.Equal(t, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, received[max(0, len(received)-2):])
	})

	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	p.RequireBack(t, 3)
	Promise(t, "L18", "it may receive answered ends once more, in order", OnStock(NeverHears), func(t require.TestingT) {
		p.RequireLawful(t)
	})
}
