// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// remembering is a fixture that keeps missed events, and can be started again.
type remembering struct {
	*fixture
	memory *memory
	change func(*Options)
}

func newRemembering(t *testing.T, listed ...string) *remembering {
	o := &remembering{memory: newMemory()}
	o.start(t, listed...)
	return o
}

// start starts the runtime with the pods and containers that it finds. A pod with an exclamation
// mark has stopped, a container with one has exited.
func (o *remembering) start(t *testing.T, listed ...string) {
	o.fixture = newFixture(t, func(opts *Options) {
		opts.MissedEvents = o.memory
		if o.change != nil {
			o.change(opts)
		}
	})
	o.lists(listed...)
	require.NoError(t, o.Recall(t.Context()))
}

// startWithoutList starts a runtime whose first list fails.
func (o *remembering) startWithoutList(t *testing.T) {
	failing := true
	o.fixture = newFixture(t, func(opts *Options) {
		opts.MissedEvents = o.memory
		list := opts.List
		opts.List = func(ctx context.Context) (Snapshot, error) {
			if failing {
				return Snapshot{}, errRejected
			}
			return list(ctx)
		}
	})
	require.ErrorIs(t, o.Recall(t.Context()), errRejected)
	failing = false
}

func (o *remembering) lists(listed ...string) {
	o.listed = Snapshot{}
	for _, id := range listed {
		id, over := strings.CutSuffix(id, "!")
		pod, container, _ := strings.Cut(id, "/")
		switch {
		case container == "":
			o.listed.Pods = append(o.listed.Pods, Object{Pod: pod, Stopped: over})
		case over:
			o.listed.Exited = append(o.listed.Exited, Object{Pod: pod, Container: container})
		default:
			o.listed.Containers = append(o.listed.Containers, Object{Pod: pod, Container: container})
		}
	}
}

// kill kills the runtime: what was not synced is lost, and no lane ends in order.
func (o *remembering) kill() {
	o.memory.crash()
	kept := o.memory
	o.memory = newMemory()
	o.memory.now, o.memory.saved = kept.copied(kept.now), kept.copied(kept.now)
	o.Close() // to the old memory
}

// left disconnects a plugin, and waits until the engine has seen that.
func (o *remembering) left(p *plugin) {
	p.Close()
	synctest.Wait()
}

// again connects a plugin once more, as another connection.
func (o *remembering) again(p *plugin) *plugin {
	o.t.Helper()
	next := newPlugin(p.name)
	next.wants = p.wants
	o.joined(next)
	synctest.Wait()
	return next
}

func (o *remembering) missed(name string) int {
	n := 0
	for range o.memory.Missed(name) {
		n++
	}
	return n
}

// drop has the store drop an end, as if there were no room.
func (o *remembering) drop(name, end string) {
	ev := event(end)
	o.memory.Delivered(name, ev.Kind.String(), [2]string{ev.Pod, ev.Container})
	o.memory.mu.Lock()
	defer o.memory.mu.Unlock()
	delete(o.memory.now[name].known, [2]string{ev.Pod, ev.Container})
}

// missesMuch has a plugin miss the ends of many pods, then come back and take a second for each
// event. It knows the given pods, which stay, too.
func (o *remembering) missesMuch(stay ...string) {
	o.t.Helper()
	a := newPlugin("10-a")
	o.joined(a)
	const pods = 100
	pod := func(i int) string { return "p" + string(rune('A'+i)) }
	for i := range pods {
		o.did("RunPodSandbox:" + pod(i))
	}
	for _, id := range stay {
		o.did("RunPodSandbox:" + id)
	}
	o.left(a)
	for i := range pods {
		o.end("StopPodSandbox:"+pod(i), "RemovePodSandbox:"+pod(i))
	}
	o.lists(stay...)
	slow := newPlugin("10-a")
	slow.handle = func(context.Context, Event) (any, error) { slow.stall(time.Second); return nil, nil }
	o.joined(slow)
}
