// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pod waits for joining plugins one timeout in all, however many join, hang and come back. They
// receive late what they missed.
func TestL13_CreationWaitsOneTimeoutForAllJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		flap := func(name string) {
			for i := range 4 {
				p := newPlugin(fmt.Sprintf("%s%d", name, i)) // another one each time
				p.synchronize = func(context.Context, Snapshot) error { <-p.closed; return ErrClosed }
				assert.Error(t, f.join(p))
			}
		}
		go flap("10-a")
		time.Sleep(syncTimeout / 2)
		go flap("20-b")
		synctest.Wait()
		start := time.Now()
		f.did("RunPodSandbox:p1")
		assert.Equal(t, syncTimeout, time.Since(start))
	})
}

// The time that other plugins take for their answers, or that their lines take, is not part of
// the wait for a plugin that joins.
func TestL13_OthersTakeNoTimeOfAJoin(t *testing.T) {
	for how, tc := range map[string]struct {
		pods  int
		takes time.Duration
	}{
		"for one answer":    {1, requestTimeout - time.Millisecond},
		"with a long queue": {30, 150 * time.Millisecond},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(o *Options) { o.SyncTimeout = o.RequestTimeout })
				first := newPlugin("10-first").syncs(100*time.Millisecond).takes(tc.takes, RunPodSandbox)
				firstJoined := f.comes(first)
				ran := f.asksPods(tc.pods)
				time.Sleep(requestTimeout + 50*time.Millisecond)
				policy := newPlugin("20-policy").syncs(400 * time.Millisecond)
				joined := f.comes(policy)
				assert.Empty(t, failures(ran))
				require.NoError(t, <-firstJoined)
				require.NoError(t, <-joined)
				synctest.Wait()
				assert.NotContains(t, f.journal.outcomes(RunPodSandbox), "skipped")
			})
		})
	}
}

// Nor is the time of a plugin that was synchronized quickly, and is lost or comes back after a
// while in the event of another pod.
func TestL13_PluginThatIsLostTakesNoTimeOfAJoin(t *testing.T) {
	for _, back := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, func(o *Options) { o.SyncTimeout, o.MissedEvents = o.RequestTimeout, newMemory() })
			first := newPlugin("10-first").syncs(100*time.Millisecond).takes(time.Minute, RunPodSandbox)
			f.comes(first)
			f.asks("RunPodSandbox:other")
			ran := f.asks("RunPodSandbox:p1")
			time.Sleep(requestTimeout - 150*time.Millisecond)
			policy := newPlugin("20-policy").syncs(400 * time.Millisecond).reject(RunPodSandbox)
			joined := f.comes(policy)
			time.Sleep(50 * time.Millisecond)
			first.Close()
			if back {
				f.comes(newPlugin("10-first"))
			}
			assert.ErrorIs(t, <-ran, errRejected)
			require.NoError(t, <-joined)
		})
	}
}

func TestL13_PluginSynchronizedTooLateIsCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		hung := newPlugin("10-hung")
		hung.synchronize = func(context.Context, Snapshot) error { <-hung.closed; return ErrClosed }
		go f.join(hung)
		time.Sleep(syncTimeout / 2)
		ran := make(chan error)
		go func() { ran <- f.ask(t.Context(), "RunPodSandbox:p1") }()
		time.Sleep(syncTimeout/2 - 1) // hung will be dropped next
		slow := newPlugin("20-slow")
		slow.synchronize = func(context.Context, Snapshot) error { time.Sleep(syncTimeout - 1); return nil }
		f.joined(slow)
		require.NoError(t, <-ran)
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", slow.received())
		assert.Equal(t, "20-slow answered late, 20-slow skipped", f.journal.outcomes(RunPodSandbox))
	})
}

// A runtime holds a lock of its own in its requests and for its list. A request does not wait for
// a plugin that waits for the list.
func TestL13_RuntimeWithALockOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := make(chan struct{}, 1)
		var f *fixture
		f = newFixture(t, func(o *Options) {
			o.List = func(context.Context) (Snapshot, error) {
				lock <- struct{}{}
				defer func() { <-lock }()
				return f.listed, nil
			}
		})
		a, b := newPlugin("10-a"), newPlugin("20-b")
		joined := make(chan error, 1)
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == RunPodSandbox {
				go func() { joined <- f.join(b) }()
				synctest.Wait()
			}
			return nil, nil
		}
		f.joined(a)
		start := time.Now()
		lock <- struct{}{}
		f.did("RunPodSandbox:p1")
		f.listed.Pods = pods("p1")
		<-lock
		require.NoError(t, <-joined)
		assert.Zero(t, time.Since(start))
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1)", b.received())
		lock <- struct{}{}
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1", b.received())
	})
}

// Many plugins connect while a list is being taken: they share the next list.
func TestL13_OneListForAllConnectionsBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		f := newFixture(t, func(o *Options) {
			o.List = func(context.Context) (Snapshot, error) {
				lists++
				time.Sleep(time.Second)
				return Snapshot{}, nil
			}
		})
		start := time.Now()
		done := make(chan error)
		for i := range 10 {
			go func() { done <- f.join(newPlugin(fmt.Sprintf("%d0-a", i))) }()
			synctest.Wait()
		}
		for range 10 {
			require.NoError(t, <-done)
		}
		assert.Equal(t, 2, lists)
		assert.Equal(t, 2*time.Second, time.Since(start))
	})
}

// A teardown does not wait for a plugin that is not synchronized yet. That plugin receives the
// end afterwards.
func TestL13_TeardownDoesNotWaitForJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("RunPodSandbox:p1")
		f.listed.Pods = pods("p1")
		a := newPlugin("10-a")
		a.wants = func(k Kind) bool { return k != RunPodSandbox }
		a.synchronize = func(context.Context, Snapshot) error { time.Sleep(time.Second); return nil }
		go f.join(a)
		synctest.Wait()
		f.did("RunPodSandbox:p2") // in the line
		start := time.Now()
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		require.NoError(t, f.end("StopPodSandbox:p2"))
		assert.Zero(t, time.Since(start))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1 StopPodSandbox:p2", a.received())
	})
}
