// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A lost connection releases all callers: blocking events by its policy, ends at once.
func TestL16_LostConnectionReleasesAllCallers(t *testing.T) {
	for _, failRequest := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			a, b := newPlugin("10-a").hang(UpdatePodSandbox), newPlugin("20-b")
			a.failRequest = failRequest
			f.joined(a, b)
			f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
			updated, inLine := make(chan error), make(chan error)
			go func() { updated <- f.ask(t.Context(), "UpdatePodSandbox:p1") }()
			synctest.Wait()
			go func() { inLine <- f.ask(t.Context(), "UpdatePodSandbox:p2") }()
			stopped := make(chan error)
			go func() { stopped <- f.end("StopPodSandbox:p1") }()
			synctest.Wait()

			start := time.Now()
			a.Close()
			for _, done := range []chan error{updated, inLine, stopped} {
				if failRequest {
					require.ErrorIs(t, <-done, ErrClosed)
				} else {
					require.NoError(t, <-done)
				}
			}
			assert.Zero(t, time.Since(start))
			synctest.Wait()
			assert.Equal(t, "10-a lost, 20-b answered", f.journal.outcomes(StopPodSandbox))
			assert.Contains(t, f.journal.outcomes(UpdatePodSandbox), "10-a lost, 10-a lost")
			assert.Equal(t, ErrClosed, f.journal.reason("10-a"))
			assert.Contains(t, b.received(), "StopPodSandbox:p1")
		})
	}
}

// A plugin that has disconnected is not asked, and fails no event.
func TestL3_ClosedConnectionIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.failRequest = true
		f.joined(a)
		a.Close()
		synctest.Wait()
		f.did("RunPodSandbox:p1")
		assert.Empty(t, f.Status().Connections)
	})
}

func TestCloseReleasesAllCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, b := newPlugin("10-a").hang(RunPodSandbox), newPlugin("20-b")
		b.synchronize = func(ctx context.Context, _ Snapshot) error {
			<-ctx.Done()
			return ctx.Err()
		}
		f.joined(a)
		done := make(chan error, 3)
		go func() { done <- f.ask(t.Context(), "RunPodSandbox:p1") }()
		synctest.Wait()
		go func() { done <- f.join(b) }()
		go func() { done <- f.end("StopPodSandbox:p1") }()
		synctest.Wait()
		start := time.Now()
		f.Close()
		for range 3 {
			<-done
		}
		assert.Zero(t, time.Since(start))
		assert.True(t, a.isClosed() && b.isClosed())

		c := newPlugin("30-c")
		require.ErrorIs(t, f.join(c), ErrClosed)
		assert.True(t, c.isClosed())
		f.did("RunPodSandbox:p2")
		f.Close()
	})
}

func TestL17_StatusShowsPendingRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, b := newPlugin("10-a"), newPlugin("20-b").hang(RunPodSandbox)
		b.keepConnected = true
		f.listed = Snapshot{Pods: pods("p0"), Containers: []Object{{Pod: "p0", Container: "c0"}}}
		f.joined(b, a)
		began := time.Now()
		run := make(chan error)
		go func() { run <- f.ask(t.Context(), "RunPodSandbox:p1") }()
		time.Sleep(time.Second)
		go f.end("StopPodSandbox:p0")
		synctest.Wait()

		s := f.Status()
		require.Len(t, s.Connections, 2)
		require.Len(t, s.Creations, 1)
		assert.Equal(t, CreationStatus{Event: event("RunPodSandbox:p1"), Since: began, Asking: b}, s.Creations[0])
		assert.Equal(t, ConnectionStatus{
			Conn: b, Since: began, Joined: true, Depth: 1,
			Current: event("RunPodSandbox:p1"), CurrentSince: began,
			Pods: 2, Containers: 1,
		}, s.Connections[1])
		assert.Zero(t, s.Connections[0].Depth)

		require.NoError(t, <-run)
		synctest.Wait()
		s = f.Status()
		assert.Empty(t, s.Creations)
		require.ErrorIs(t, s.Connections[1].LastError, context.DeadlineExceeded)
		assert.Equal(t, began.Add(requestTimeout), s.Connections[1].LastErrorAt)
		assert.Equal(t, []string{"20-b 1 1", "10-a 1 1"}, f.journal.joined)
	})
}

// Time in the lane and time in the plugin are reported apart.
func TestL17_DeliveriesReportWaitAndAnswerTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.handle = func(context.Context, Event) (any, error) {
			time.Sleep(time.Second)
			return nil, nil
		}
		f.joined(a)
		done := make(chan error, 2)
		type mark struct{}
		ctx := context.WithValue(t.Context(), mark{}, "request")
		go func() { done <- f.ask(ctx, "RunPodSandbox:p1") }()
		synctest.Wait()
		go func() { done <- f.ask(ctx, "RunPodSandbox:p2") }()
		<-done
		<-done
		require.Len(t, f.journal.deliveries, 2)
		for _, d := range f.journal.deliveries {
			assert.Equal(t, "request", d.Context.Value(mark{}), "it has the context of its request")
		}
		f.journal.deliveries[0].Context, f.journal.deliveries[1].Context = nil, nil
		assert.Equal(t, Delivery{Conn: a, Event: event("RunPodSandbox:p1"), Outcome: Answered, Took: time.Second}, f.journal.deliveries[0])
		assert.Equal(t, Delivery{Conn: a, Event: event("RunPodSandbox:p2"), Outcome: Answered, Waited: time.Second, Took: time.Second}, f.journal.deliveries[1])
	})
}

func TestDefaults(t *testing.T) {
	e := New(Options{})
	defer e.Close()
	assert.Equal(t, 2*time.Second, e.opts.RequestTimeout())
	assert.Equal(t, 2*time.Second, e.opts.TeardownWait())
	assert.Equal(t, 2*time.Second, e.opts.SyncTimeout())
	assert.Equal(t, 5*time.Second, e.opts.ListTimeout())
	assert.Equal(t, 4096, e.opts.BacklogLimit)
}

func TestNames(t *testing.T) {
	assert.Equal(t, "StopContainer of container c1 of pod p1", event("StopContainer:p1/c1").String())
	assert.Equal(t, "RunPodSandbox of pod p1", event("RunPodSandbox:p1").String())
	assert.Equal(t, "Synchronize", Event{Kind: Synchronize}.String())
	assert.Equal(t, "Kind(0)", Kind(0).String())
	for k := Synchronize; k <= RemoveContainer; k++ {
		assert.NotEmpty(t, k.String())
	}
	assert.Equal(t, "timed out", TimedOut.String())
	assert.Equal(t, "unknown", Outcome(0).String())
}
