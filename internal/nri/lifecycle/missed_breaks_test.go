// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stored end is delivered although the store has dropped one before it.
func TestL18_EndIsDeliveredAfterAnEarlierOneWasDropped(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
			a := newPlugin("10-a")
			o.joined(a)
			o.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
			o.left(a)
			o.end("StopContainer:p1/c1", "RemoveContainer:p1/c1", "StopPodSandbox:p1", "RemovePodSandbox:p1")
			o.drop("10-a", "StopContainer:p1/c1")
			o.drop("10-a", "StopPodSandbox:p1")
			o.lists()
			if restart {
				o.memory.Sync()
				o.kill()
				o.start(t)
			}
			received := o.again(a).received()
			assert.Contains(t, received, "RemoveContainer:p1/c1")
			assert.Contains(t, received, "RemovePodSandbox:p1")
			assert.Zero(t, o.missed("10-a"))
		})
	}
}

// An end in which each connection of a name is lost is not delivered for ever: a later connection
// serves. The first connection does not count, as it had not missed the end, also if it is lost
// before the event is sent.
func TestL22_EndThatBreaksEachConnectionIsDropped(t *testing.T) {
	for _, takes := range []time.Duration{0, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
			breaks := func() *plugin {
				p := newPlugin("10-a").breakAt(StopPodSandbox)
				require.NoError(t, o.Join(t.Context(), &slowToSend{p, takes}, p.sync))
				synctest.Wait()
				return p
			}
			breaks()
			o.did("RunPodSandbox:p1")
			require.NoError(t, o.end("StopPodSandbox:p1"))
			synctest.Wait()
			o.lists("p1!")
			for range maxLosses {
				assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1", breaks().received())
			}
			a := o.again(newPlugin("10-a"))
			o.did("RunPodSandbox:p2")
			require.NoError(t, o.end("RemovePodSandbox:p1"))
			assert.Equal(t, "Synchronize(p1!) RunPodSandbox:p2 RemovePodSandbox:p1", a.received())
			assert.Zero(t, o.missed(a.name))
		})
	}
}

// A slowToSend plugin receives an event while the connection still sends it.
type slowToSend struct {
	*plugin
	takes time.Duration
}

func (s *slowToSend) Deliver(ctx context.Context, ev Event, due time.Time, answer func(any, error)) {
	s.plugin.Deliver(ctx, ev, due, answer)
	time.Sleep(s.takes)
}

// A Stop is missed, too, if the connection breaks after its timeout, with whatever error.
func TestL18_StopThatIsLateAndBreaksIsDeliveredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := &breaking{plugin: newPlugin("10-a")}
		a.keepConnected = true
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == StopPodSandbox {
				time.Sleep(2 * requestTimeout)
				a.broken.Store(true)
				return nil, context.Canceled
			}
			return nil, nil
		}
		require.NoError(t, o.Join(t.Context(), a, a.sync))
		o.did("RunPodSandbox:p1")
		require.NoError(t, o.end("StopPodSandbox:p1"))
		time.Sleep(2 * requestTimeout)
		o.left(a.plugin)
		o.lists("p1!")
		assert.Equal(t, "Synchronize(p1!) StopPodSandbox:p1", o.again(a.plugin).received())
	})
}

// A breaking plugin is closed a moment before its watcher sees that.
type breaking struct {
	*plugin
	broken atomic.Bool
}

func (b *breaking) Closed() <-chan struct{} {
	if !b.broken.Load() {
		return b.plugin.Closed()
	}
	over := make(chan struct{})
	close(over)
	return over
}

// A dropped end is reported by an outcome of its own.
func TestL22_AbandonedEndIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1")
		o.left(a)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		for range maxLosses {
			o.joined(newPlugin("10-a").breakAt(StopPodSandbox))
			synctest.Wait()
		}
		assert.Equal(t, "10-a abandoned late, 10-a lost late, 10-a lost late", o.journal.outcomes(StopPodSandbox))
		assert.Equal(t, "Synchronize() RemovePodSandbox:p1", o.again(a).received(), "later ends are still delivered")
	})
}

// An end that breaks one connection after the other is dropped also where each connection has a
// successor.
func TestL22_EndThatBreaksEachSuccessorIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &remembering{memory: newMemory(), change: func(o *Options) { o.HandOver = func(Connection) bool { return true } }}
		o.start(t)
		f := o.fixture
		var stops atomic.Int32
		newOne := func() *plugin {
			p := newPlugin("10-a")
			p.handle = func(_ context.Context, ev Event) (any, error) {
				if ev.Kind == StopPodSandbox {
					stops.Add(1)
					time.Sleep(200 * time.Millisecond)
					p.Close()
					return nil, ErrClosed
				}
				return nil, nil
			}
			return p
		}
		f.joined(newOne())
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		f.listed = Snapshot{Pods: pods("p1", "p2")}
		ctx, stay := context.WithCancel(t.Context())
		stop := f.ends("StopPodSandbox:p1")
		var surge sync.WaitGroup
		for range 2 {
			surge.Go(func() { comesBack(ctx, f, newOne) })
		}
		<-stop
		time.Sleep(time.Minute)

		patience, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		_ = f.ask(patience, "UpdatePodSandbox:p2")
		assert.LessOrEqual(t, stops.Load(), int32(maxLosses+2))
		stay()
		f.Close()
		surge.Wait()
	})
}

// A missed end and an end in the line, which take turns, break each connection. Both are dropped.
func TestL22_TwoEndsThatBreakByTurnsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRememberingHanding(t)
		wants := func(k Kind) bool { return k == StopPodSandbox || k == RunPodSandbox }
		a := newPlugin("10-a")
		a.wants = wants
		o.joined(a)
		o.did("RunPodSandbox:long", "RunPodSandbox:missed", "RunPodSandbox:breaks", "RunPodSandbox:too")
		o.left(a)
		o.end("StopPodSandbox:long")
		o.end("StopPodSandbox:missed")
		o.end("StopPodSandbox:breaks")
		o.lists("too")
		received := make(map[string]int)
		var next func() *plugin
		next = func() *plugin {
			p := newPlugin("10-a")
			p.wants, p.keepConnected = wants, true
			p.handle = func(_ context.Context, ev Event) (any, error) {
				received[ev.Pod]++
				switch {
				case ev.Pod == "long":
					p.stall(syncTimeout + time.Second) // until missed events take turns
				case ev.Pod != "missed" && received[ev.Pod] <= 2*maxLosses:
					go o.join(next())
					p.stall(100 * time.Millisecond)
					p.Close()
					return nil, ErrClosed
				}
				return nil, nil
			}
			return p
		}
		o.joined(next())
		time.Sleep(requestTimeout + time.Second)
		o.end("StopPodSandbox:too") // behind an end that is overdue
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, map[string]int{"long": 1, "missed": 1, "breaks": maxLosses, "too": maxLosses + 1}, received)
	})
}
