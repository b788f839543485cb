// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newRememberingHanding is newHanding that keeps missed events.
func newRememberingHanding(t *testing.T) *remembering {
	o := &remembering{memory: newMemory(), change: func(o *Options) { o.HandOver = func(Connection) bool { return true } }}
	o.start(t)
	return o
}

// A successor takes over from a first that was lost, and is then not synchronized. It has
// received nothing: the name knows what the first knew (L3, L18).
func TestL19_FailedSuccessorLeavesTheLedgerOfTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRememberingHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		stays := make(chan struct{})
		first.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == UpdatePodSandbox {
				<-stays // also when its connection is closed
			}
			return nil, nil
		}
		defer close(stays)
		o.joined(first)
		o.did("RunPodSandbox:p1")
		o.lists("p1", "p2") // the first did not receive p2
		next.synchronize = func(context.Context, Snapshot) error { return errRejected }
		o.asks("UpdatePodSandbox:p1")
		joined := o.comes(next)
		require.Empty(t, next.received(), "it waits for the first")
		o.left(first)
		require.ErrorIs(t, <-joined, errRejected)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		o.lists()
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", o.again(newPlugin("10-a")).received())
		assert.Zero(t, o.missed("10-a"))
	})
}

// The successor receives the missed events of the name (L18).
func TestL19_MissedEventsGoToTheSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRememberingHanding(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2", "RunPodSandbox:p3")
		o.left(a)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.end("StopPodSandbox:p2")
		o.lists("p2!", "p3")
		hung := newPlugin("10-a")
		hung.keepConnected = true
		hung.handle = func(context.Context, Event) (any, error) { <-hung.closed; return nil, ErrClosed }
		o.joined(hung)
		time.Sleep(requestTimeout)
		synctest.Wait()
		require.Equal(t, "Synchronize(p2! p3) StopPodSandbox:p1", hung.received())
		o.end("StopPodSandbox:p3")
		next := newPlugin("10-a")
		o.joined(next)
		synctest.Wait()
		assert.ElementsMatch(t, strings.Fields("Synchronize(p2 p3) StopPodSandbox:p1 RemovePodSandbox:p1 StopPodSandbox:p2 StopPodSandbox:p3"), strings.Fields(next.received()))
		assert.Zero(t, o.missed("10-a"))
		o.end("RemovePodSandbox:p2")
		o.end("RemovePodSandbox:p3")
		assert.Contains(t, next.received(), "RemovePodSandbox:p2 RemovePodSandbox:p3")
	})
}

// The first was asked for a container before its successor came, and the container is sealed
// while that is synchronized. The successor receives the container late.
func TestL19_CreationIsSealedDuringSynchronize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next, other := newPlugin("10-a"), newPlugin("10-a"), newPlugin("20-b")
		other.timeouts.Request = time.Minute
		other.takes(requestTimeout+requestTimeout/4, CreateContainer)
		f.joined(first, other)
		f.did("RunPodSandbox:p1")
		f.listed = Snapshot{Pods: pods("p1")}
		create := f.asks("CreateContainer:p1/c1")
		time.Sleep(requestTimeout)
		may := next.untilAllowed()
		joined := f.comes(next)
		require.NoError(t, <-create)
		close(may)
		require.NoError(t, <-joined)
		f.did("PostCreateContainer:p1/c1")
		f.end("StopContainer:p1/c1")
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1 StopContainer:p1/c1", next.received())
	})
}

// An overdue first answers while the line stands, and a slow observer is still receiving the
// answer when the line goes on: the plugin has one request at a time (L4).
func TestL19_LineGoesOnDuringAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow slowAnswer
		f := newHanding(t, func(o *Options) { slow.Observer, o.Observer = o.Observer, &slow })
		first, thaw := frozen("10-a", UpdatePodSandbox)
		freeze := first.handle
		first.handle = func(ctx context.Context, ev Event) (any, error) {
			if ev.Kind == StopPodSandbox {
				first.stall(requestTimeout * 3 / 4)
			}
			return freeze(ctx, ev)
		}
		f.joined(first)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2", "RunPodSandbox:p3", "UpdatePodSandbox:p1")
		f.end("StopPodSandbox:p2")
		f.end("StopPodSandbox:p3")
		f.listed = Snapshot{Pods: pods("p1", "p2", "p3")}
		next, received := newPlugin("10-a"), make(chan struct{})
		next.untilAllowed()
		slow.recovered = func() { <-received }
		joined := f.comes(next)
		thaw()
		time.Sleep(requestTimeout)
		close(received)
		require.Error(t, <-joined)
		time.Sleep(time.Hour)
		assert.Empty(t, first.faults)
		assert.False(t, first.isClosed())
		assert.Contains(t, first.received(), "UpdatePodSandbox:p1 StopPodSandbox:p2 StopPodSandbox:p3")
	})
}

// A slowAnswer is an observer that takes its time with a late answer.
type slowAnswer struct {
	Observer
	recovered func()
}

func (s *slowAnswer) Recovered(c Connection, ev Event, took time.Duration) {
	s.recovered()
	s.Observer.Recovered(c, ev, took)
}

// A pod begins and ends after the first has disconnected and while its successor is synchronized.
// The successor has it from Synchronize, did not subscribe to RunPodSandbox, and receives its end
// once.
func TestL19_PodBeginsAndEndsBeforeASuccessorIsSynchronized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p0")
		f.listed = Snapshot{Pods: pods("p0", "p1")} // p1 is being created
		next.wants = Kind.Final
		may := next.untilAllowed()
		joined := f.comes(next)
		time.Sleep(requestTimeout) // so that the runtime lists once more
		first.Close()
		synctest.Wait()
		f.did("RunPodSandbox:p1")
		ended := f.ends("StopPodSandbox:p1", "RemovePodSandbox:p1")
		f.listed = Snapshot{Pods: pods("p0")}
		close(may)
		require.NoError(t, <-joined)
		require.NoError(t, <-ended)
		synctest.Wait()
		assert.Equal(t, "Synchronize(p0 p1) StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
	})
}

// A pod begins while the line stands, and no connection of the name subscribed to RunPodSandbox:
// the pod is in no Synchronize. The successor receives its end.
func TestL19_PodThatBeginsWhileTheLineStandsIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		first.wants, next.wants = Kind.Final, Kind.Final
		f.joined(first)
		may := next.untilAllowed()
		joined := f.comes(next)
		synctest.Wait()
		f.did("RunPodSandbox:p1")
		close(may)
		require.NoError(t, <-joined)
		f.end("StopPodSandbox:p1")
		assert.Equal(t, "Synchronize() StopPodSandbox:p1", next.received())
	})
}

// A first is overdue and did not subscribe to RunPodSandbox. A pod begins, and ends while the
// successor takes its time. The successor receives no end twice, and nothing of the pod after its
// Remove (L1, L3).
func TestL19_PodBeginsAndEndsBehindAnOverdueFirst(t *testing.T) {
	for _, wants := range []string{"ends", "everything"} {
		synctest.Test(t, func(t *testing.T) {
			f := newHanding(t)
			first, thaw := frozen("10-a", UpdatePodSandbox)
			next := newPlugin("10-a")
			first.wants = func(k Kind) bool { return k == UpdatePodSandbox || k.Final() }
			next.wants = masks[wants]
			f.joined(first)
			f.did("RunPodSandbox:p0")
			f.listed = Snapshot{Pods: pods("p0")}
			f.did("UpdatePodSandbox:p0")
			f.did("RunPodSandbox:p1")
			f.listed = Snapshot{Pods: pods("p0", "p1")}
			may := next.untilAllowed()
			joined := f.comes(next)
			time.Sleep(requestTimeout)
			f.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
			f.listed = Snapshot{Pods: pods("p0")}
			close(may)
			require.NoError(t, <-joined)
			synctest.Wait()
			next.mu.Lock()
			assert.Empty(t, readAgain(next.history, next.wants, []string{"p1"}).faults, "%v", next.history)
			next.mu.Unlock()
			thaw()
		})
	}
}
