// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/hookline-nri/hookline/integration/wait"
)

// listener keeps the container events that CRI sends.
type listener struct {
	mu     sync.Mutex
	events []*runtime.ContainerEventResponse
}

// listen listens until the test ends. It returns when events come.
func listen(t *testing.T, n target) *listener {
	t.Helper()
	l := &listener{}
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := n.CRI().Runtime.GetContainerEvents(ctx, &runtime.GetEventsRequest{})
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			event, err := stream.Recv()
			if err != nil {
				return // the test is over
			}
			l.mu.Lock()
			l.events = append(l.events, event)
			l.mu.Unlock()
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	requireNoticed(t, n.CRI())
	return l
}

// mark runs a pod, which stays, and returns when listeners hear of it: so have they
// of all that was before.
func (l *listener) mark(t *testing.T, n target, name string) {
	t.Helper()
	ctx, c := withinAMinute(t), n.CRI()
	id, err := c.RunPod(ctx, c.Pod(name))
	require.NoError(t, err)
	require.NoError(t, l.await(ctx, id, "created started"))
}

// await waits for the events of a pod or container.
func (l *listener) await(ctx context.Context, id, events string) error {
	return wait.Until(ctx, events+" of "+id, func(context.Context) error {
		if of := l.of(id); of != events {
			return fmt.Errorf("%q came", of)
		}
		return nil
	})
}

// of names the events of a pod or container, in order, such as "created started".
func (l *listener) of(id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for _, event := range l.events {
		if event.GetContainerId() == id {
			name := strings.TrimPrefix(event.GetContainerEventType().String(), "CONTAINER_")
			names = append(names, strings.ToLower(strings.TrimSuffix(name, "_EVENT")))
		}
	}
	return strings.Join(names, " ")
}

// last is the last event of a pod or container.
func (l *listener) last(id string) (last *runtime.ContainerEventResponse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, event := range l.events {
		if event.GetContainerId() == id {
			last = event
		}
	}
	return last
}

const wholeLife = "created started stopped deleted"

// Each event of a life comes once and in order, also if its ends follow at once.
func TestL12_EventsOfALifeComeOnceAndInOrder(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	listener := listen(t, n)
	var lives []life
	for _, name := range []string{"step-by-step", "at-once", "without-a-stop"} {
		lives = append(lives, newLife(t, n, name))
	}
	ctx, c := withinAMinute(t), n.CRI()
	lives[0].End(t)
	require.NoError(t, c.StopPod(ctx, lives[1].Pod))
	require.NoError(t, c.StopPod(ctx, lives[1].Pod))
	require.NoError(t, c.RemovePod(ctx, lives[1].Pod))
	require.NoError(t, c.RemovePod(ctx, lives[2].Pod))
	listener.mark(t, n, "after")

	promise(t, "L12", "listeners hear of each step of a life once, in order", sometimesOnStock("a deletion overtakes the stop"), func(t require.TestingT) {
		for _, l := range lives {
			assert.Equal(t, wholeLife, listener.of(l.Pod))
			assert.Equal(t, wholeLife, listener.of(l.Container))
		}
	})
	promise(t, "L12", "the deletion of a pod has its last status", keptOnStock, func(t require.TestingT) {
		for _, l := range lives {
			status := listener.last(l.Pod).GetPodSandboxStatus()
			assert.Equal(t, l.Pod, status.GetId())
			assert.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, status.GetState())
		}
	})
}

// A plugin is told of the removal just before the pod leaves the list. Listeners of
// CRI are told when it has, however many removals there are.
func TestL12_DeletionIsSentWhenThePodIsGone(t *testing.T) {
	t.Parallel()
	n := startTarget(t, patient)
	p, gate := plugin.New("10", "slow"), newGate(t)
	p.Subscribe(plugin.RemovePodSandbox)
	p.On(plugin.RemovePodSandbox, gate.Hold)
	connect(t, n, p)
	listener := listen(t, n)
	ctx, c := withinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("going"))
	require.NoError(t, err)
	require.NoError(t, c.StopPod(ctx, pod))

	first := inBackground(func() error { return c.RemovePod(ctx, pod) })
	requireClosed(t, gate.Entered(), "RemovePodSandbox")
	if !runsOnStock { // which would wait for the plugin
		listener.mark(t, n, "meanwhile")
	} else {
		require.NoError(t, listener.await(ctx, pod, wholeLife))
	}
	before := listener.of(pod)
	second := inBackground(func() error { return c.RemovePod(ctx, pod) })
	gate.Release()
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	listener.mark(t, n, "after")

	promise(t, "L12", "listeners do not hear of a deletion before it", onStock("they do"), func(t require.TestingT) {
		assert.NotContains(t, before, "deleted")
	})
	promise(t, "L12", "they hear of it once, after two removals", sometimesOnStock("they hear of it twice"), func(t require.TestingT) {
		assert.Equal(t, wholeLife, listener.of(pod))
	})
}

// Listeners hear of pods that came to be. Of one whose creation failed, or was ended,
// nothing is there to hear of.
func TestL6_ListenersHearNothingOfAPodThatDoesNotComeToBe(t *testing.T) {
	t.Parallel()
	n := startTarget(t, patient)
	first, second := plugin.New("10", "first"), plugin.New("20", "second")
	connect(t, n, first, second)
	listener := listen(t, n)
	second.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
		if call.Pod.GetName() == "refused" {
			return assert.AnError
		}
		return nil
	})
	ctx, c := withinAMinute(t), n.CRI()
	refused := newInHook(t, n, first, "refused")
	refused.Gate.Release()
	require.Error(t, <-refused.Ran)

	ended := newInHook(t, n, first, "ended")
	stopped := inBackground(func() error { return c.StopPod(ctx, ended.ID) })
	if runsOnStock {
		require.NoError(t, <-stopped)
	} else {
		requireWaiting(t, n, first, 1)
	}
	ended.Gate.Release()
	errEnded := <-ended.Ran
	first.On(plugin.RunPodSandbox, nil)
	listener.mark(t, n, "after")
	promise(t, "L6", "listeners hear nothing of a pod that plugins refused", keptOnStock, func(t require.TestingT) {
		assert.Empty(t, listener.of(refused.ID))
	})
	promise(t, "L6", "nor of one that was stopped in its hook", onStock("it becomes ready"), func(t require.TestingT) {
		require.Error(t, errEnded)
		assert.Empty(t, listener.of(ended.ID))
	})
}
