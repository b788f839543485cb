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

// frozen makes a plugin answer events of the kinds only when it is thawed, whatever happens to
// contexts and timeouts.
func frozen(name string, in ...Kind) (p *plugin, thaw func()) {
	p = newPlugin(name)
	p.keepConnected = true
	melted := make(chan struct{})
	p.handle = func(_ context.Context, ev Event) (any, error) {
		for _, k := range in {
			if ev.Kind == k {
				select {
				case <-melted:
				case <-p.closed:
					return nil, ErrClosed
				}
			}
		}
		return nil, nil
	}
	return p, func() { close(melted) }
}

// A caller cancels while a plugin handles its Run. The plugin keeps its turn, so the Stop of the
// roll back comes after the answer.
func TestL4_StopWaitsForAnAnswerToRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == RunPodSandbox {
				time.Sleep(3 * requestTimeout / 4)
			}
			return nil, nil
		}
		f.joined(a)
		ctx, cancel := context.WithTimeout(t.Context(), requestTimeout/4)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, f.ask(ctx, "RunPodSandbox:p1"), context.DeadlineExceeded)
		assert.Equal(t, butForTheUndo(requestTimeout/4), time.Since(start), "the caller does not wait")
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		assert.Equal(t, 3*requestTimeout/4, time.Since(start))
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1", a.received())
		assert.Empty(t, a.faults)
		assert.Equal(t, "10-a canceled", f.journal.outcomes(RunPodSandbox))
		assert.Equal(t, []string{"10-a RunPodSandbox:p1 1.5s"}, f.journal.recovered)
	})
}

// A plugin whose caller has canceled still has its timeout.
func TestL16_TimeoutCountsWithoutTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, _ := frozen("10-a", RunPodSandbox)
		a.keepConnected = false
		f.joined(a)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, f.ask(ctx, "RunPodSandbox:p1"), context.DeadlineExceeded)
		assert.False(t, a.isClosed())
		time.Sleep(requestTimeout - butForTheUndo(time.Second))
		synctest.Wait()
		assert.True(t, a.isClosed())
		require.ErrorIs(t, f.journal.reason("10-a"), context.DeadlineExceeded)
	})
}

// Ten pods wait for a plugin that times out in the first of them. Its policy holds for all.
func TestL16_PolicyHoldsForAllWaiters(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep_connected=%t", keep), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				a, _ := frozen("10-a", RunPodSandbox)
				a.failRequest, a.keepConnected = true, keep
				f.joined(a)
				done := make(chan error, 10)
				start := time.Now()
				for i := range cap(done) {
					go func() { done <- f.ask(t.Context(), fmt.Sprintf("RunPodSandbox:p%d", i)) }()
				}
				for range cap(done) {
					require.Error(t, <-done)
				}
				assert.Equal(t, requestTimeout, time.Since(start))
			})
		})
	}
}

// An optional plugin that hangs and stays connected costs the node one timeout, not one for each
// pod.
func TestL22_HungPluginCostsOneTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, thaw := frozen("10-a", RunPodSandbox, StopPodSandbox)
		b := newPlugin("20-b")
		f.joined(a, b)
		start := time.Now()
		for i := range 20 {
			f.did(fmt.Sprintf("RunPodSandbox:p%d", i))
		}
		assert.Equal(t, requestTimeout, time.Since(start))
		assert.Equal(t, 1+20, b.count())
		start = time.Now()
		for i := range 10 {
			err := f.end(fmt.Sprintf("StopPodSandbox:p%d", i), fmt.Sprintf("RemovePodSandbox:p%d", i))
			if i > 0 {
				assert.NoError(t, err, "it never received this one")
			}
		}
		assert.Zero(t, time.Since(start), "no teardown waits for an overdue plugin")

		// The plugin receives late what still exists, and nothing of what began and ended
		// meanwhile.
		thaw()
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p0 RunPodSandbox:p10 RunPodSandbox:p11 RunPodSandbox:p12 RunPodSandbox:p13 "+
			"RunPodSandbox:p14 RunPodSandbox:p15 RunPodSandbox:p16 RunPodSandbox:p17 RunPodSandbox:p18 RunPodSandbox:p19 "+
			"StopPodSandbox:p0 RemovePodSandbox:p0", a.received())
		assert.Contains(t, f.journal.outcomes(RunPodSandbox), "10-a answered late, ")
		f.did("RunPodSandbox:p20")
		assert.Contains(t, a.received(), "RunPodSandbox:p20", "it is asked again")
	})
}

// A plugin that must be asked and is overdue fails a request at once. The error names the event
// that it has not answered.
func TestL22_OverduePluginFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, _ := frozen("10-a", RunPodSandbox)
		a.failRequest = true
		f.joined(a)
		require.ErrorIs(t, f.ask(t.Context(), "RunPodSandbox:p1"), context.DeadlineExceeded)
		time.Sleep(12 * time.Second)
		start := time.Now()
		err := f.ask(t.Context(), "RunPodSandbox:p2")
		require.ErrorContains(t, err, "it has not answered RunPodSandbox of pod p1 for 14s")
		var failed *Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, Skip, failed.Failure)
		assert.Zero(t, time.Since(start))
		assert.True(t, f.Status().Connections[0].Overdue)
		assert.Equal(t, "10-a skipped, 10-a timed out", f.journal.outcomes(RunPodSandbox))
	})
}

// A plugin that was skipped can no longer reject.
func TestL22_LateRunRejectsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, thaw := frozen("10-a", UpdatePodSandbox)
		f.joined(a)
		f.did("RunPodSandbox:p1", "UpdatePodSandbox:p1", "RunPodSandbox:p2", "CreateContainer:p2/c1", "PostCreateContainer:p2/c1")
		synctest.Wait()
		a.reject(RunPodSandbox, CreateContainer)
		thaw()
		synctest.Wait()
		assert.Contains(t, a.received(), "RunPodSandbox:p2 CreateContainer:p2/c1")
		assert.Contains(t, f.journal.outcomes(RunPodSandbox), "10-a rejected late")
		assert.False(t, a.isClosed())
		require.NoError(t, f.end("StopContainer:p2/c1", "StopPodSandbox:p2"))
		assert.Contains(t, a.received(), "StopContainer:p2/c1 StopPodSandbox:p2")
	})
}

// A plugin is skipped, and another one then rejects the pod. The first plugin receives nothing of
// it.
func TestL22_RejectedPodIsNotDeliveredLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, thaw := frozen("10-a", UpdatePodSandbox)
		b := newPlugin("20-b")
		b.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Pod == "p2" && ev.Kind == RunPodSandbox {
				thaw() // a is free before the pod is rejected
				time.Sleep(time.Second)
				return nil, errRejected
			}
			return nil, nil
		}
		f.joined(a, b)
		f.did("RunPodSandbox:p1", "UpdatePodSandbox:p1")
		require.ErrorIs(t, f.ask(t.Context(), "RunPodSandbox:p2"), errRejected)
		require.NoError(t, f.end("StopPodSandbox:p2", "RemovePodSandbox:p2"))
		assert.NotContains(t, a.received(), "p2")
	})
}

// A plugin does not stay overdue for ever.
func TestL22_OverduePluginIsDroppedInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.OverdueLimit = time.Minute })
		a, _ := frozen("10-a", RunPodSandbox)
		f.joined(a)
		f.did("RunPodSandbox:p1")
		time.Sleep(time.Minute - time.Nanosecond)
		assert.False(t, a.isClosed())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.True(t, a.isClosed())
		require.ErrorIs(t, f.journal.reason("10-a"), ErrBacklog)
		require.ErrorContains(t, f.journal.reason("10-a"), "not answered RunPodSandbox of pod p1 for 1m2s")
	})
}

func TestL22_BacklogIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.BacklogBytes = 1000
			o.Weigh = func(Event) int { return 300 }
		})
		a, _ := frozen("10-a", UpdatePodSandbox)
		f.joined(a)
		f.did("RunPodSandbox:p0", "UpdatePodSandbox:p0", "RunPodSandbox:p1", "RunPodSandbox:p2", "RunPodSandbox:p3")
		assert.False(t, a.isClosed())
		f.end("StopPodSandbox:p3") // frees the bytes of its Run, and takes as many itself
		assert.False(t, a.isClosed())
		f.did("RunPodSandbox:p4")
		synctest.Wait()
		assert.True(t, a.isClosed())
		require.ErrorIs(t, f.journal.reason("10-a"), ErrBacklog)
	})
}

// A permanent plugin stays connected, however late it answers.
func TestL22_PermanentPluginIsNeverDropped(t *testing.T) {
	for _, f := range []Failure{Rejection, Timeout, Loss, Skip} {
		_, drop := Policy{Permanent: true}.Decide(RunPodSandbox, f)
		assert.False(t, drop, f)
	}
}

func TestPolicyDecides(t *testing.T) {
	for _, tc := range []struct {
		failure    Failure
		policy     Policy
		kind       Kind
		fail, drop bool
	}{
		{Rejection, Policy{}, RunPodSandbox, true, false},
		{Timeout, Policy{}, RunPodSandbox, false, true},
		{Timeout, Policy{FailRequest: true}, RunPodSandbox, true, true},
		{Timeout, Policy{KeepConnected: true}, RunPodSandbox, false, false},
		{Timeout, Policy{FailRequest: true, KeepConnected: true}, RunPodSandbox, true, false},
		{Timeout, Policy{}, ValidateContainerAdjustment, true, true},
		{Loss, Policy{KeepConnected: true}, RunPodSandbox, false, true},
		{Loss, Policy{FailRequest: true}, CreateContainer, true, true},
		{Skip, Policy{KeepConnected: true}, CreateContainer, false, false},
		{Skip, Policy{FailRequest: true, KeepConnected: true}, CreateContainer, true, false},
		{Skip, Policy{KeepConnected: true}, ValidateContainerAdjustment, true, false},
	} {
		fail, drop := tc.policy.Decide(tc.kind, tc.failure)
		assert.Equal(t, []bool{tc.fail, tc.drop}, []bool{fail, drop}, "%s of %s with %+v", tc.failure, tc.kind, tc.policy)
	}
}

// Replies for which no caller waits are passed on once each, in the order in which the plugin
// gave them.
func TestL9_LateRepliesAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var replies []string
		f := newFixture(t, func(o *Options) {
			o.Unheard = func(_ Connection, ev Event, reply any) { replies = append(replies, reply.(string)) }
		})
		a := newPlugin("10-a")
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind != StopContainer {
				return nil, nil
			}
			time.Sleep(requestTimeout / 4)
			return ev.Container, nil
		}
		f.joined(a)
		f.did("RunPodSandbox:p1")
		const n = 20
		for i := range n {
			f.did(fmt.Sprintf("CreateContainer:p1/c%02d", i))
		}
		done := make(chan string, 2*n)
		var stops []chan struct{}
		for i := range n {
			stopped := make(chan struct{})
			stops = append(stops, stopped)
			go func() {
				defer close(stopped)
				f.Teardown(t.Context(), []Event{event(fmt.Sprintf("StopContainer:p1/c%02d", i))}, func(_ Connection, _ Event, reply any) {
					done <- reply.(string)
				})
			}()
			synctest.Wait()
		}
		for _, stopped := range stops {
			<-stopped
		}
		time.Sleep(n * requestTimeout)
		synctest.Wait()
		close(done)
		var all []string
		for reply := range done {
			all = append(all, reply)
		}
		assert.NotEmpty(t, all)
		assert.NotEmpty(t, replies)
		all = append(all, replies...)
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("c%02d", i))
		}
		assert.ElementsMatch(t, want, all, "each is applied once")
		assert.IsIncreasing(t, replies)
	})
}

// A stop does not wait for an overdue plugin. That plugin is free again while the stop waits for
// another one. If it has not answered the stop by then, the error is a skip and not a timeout:
// the plugin has not had its full time.
func TestL22_ReturningPluginIsNoErrorForOtherWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		late, slow := newPlugin("20-late"), newPlugin("10-slow")
		late.keepConnected, late.failRequest = true, true
		quarters := func(of map[string]int) func(context.Context, Event) (any, error) {
			return func(_ context.Context, ev Event) (any, error) {
				time.Sleep(time.Duration(of[ev.Kind.String()+":"+ev.Pod]) * requestTimeout / 4)
				return nil, nil
			}
		}
		late.handle = quarters(map[string]int{"UpdatePodSandbox:p0": 5, "StopPodSandbox:p2": 2})
		slow.handle = quarters(map[string]int{"StopPodSandbox:p1": 3, "StopPodSandbox:p2": 3})
		f.joined(late, slow)
		f.did("RunPodSandbox:p0", "RunPodSandbox:p1", "RunPodSandbox:p2")
		for pod, answered := range map[string]bool{"p1": true, "p2": false} {
			f.asks("UpdatePodSandbox:p0")
			time.Sleep(requestTimeout * 3 / 4)
			err := f.end("StopPodSandbox:" + pod)
			if answered {
				require.NoError(t, err)
			} else {
				var failed *Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, Skip, failed.Failure)
				require.ErrorContains(t, err, "it receives the event later")
				assert.NotContains(t, err.Error(), "no answer within")
				start := time.Now()
				require.NoError(t, f.end("StopPodSandbox:"+pod))
				assert.Equal(t, requestTimeout/4, time.Since(start), "a later caller waits for the answer")
			}
			time.Sleep(requestTimeout)
			assert.Contains(t, late.received(), "StopPodSandbox:"+pod)
		}
	})
}

func TestL22_OverduePluginIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, _ := frozen("10-a", StopPodSandbox)
		f.joined(a)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		require.NoError(t, f.end("StopPodSandbox:p1"))
		f.did("RunPodSandbox:p3")
		require.NoError(t, f.end("StopPodSandbox:p2"), "the teardown does not wait for it")
		require.NoError(t, f.end("RemovePodSandbox:p1"))
		start := time.Now()
		a.Close()
		synctest.Wait()
		assert.Zero(t, time.Since(start))
		assert.Contains(t, f.journal.outcomes(StopPodSandbox), "10-a lost late, 10-a timed out")
		assert.Equal(t, "10-a lost late", f.journal.outcomes(RemovePodSandbox))
		assert.Empty(t, f.journal.recovered)
		assert.Equal(t, ErrClosed, f.journal.reason("10-a"))
	})
}

// inline is a plugin whose handler runs while the event is being sent.
type inline struct {
	*plugin
	on func(Event)
}

func (p inline) Deliver(ctx context.Context, ev Event, due time.Time, answer func(any, error)) {
	p.on(ev)
	p.plugin.Deliver(ctx, ev, due, answer)
}

// A pod is stopped while it is delivered late to the plugins that missed its Run. Plugins whose
// turn comes after that receive nothing of it.
func TestL3_PodThatEndsMeanwhileIsNotDeliveredLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		b, thawB := frozen("20-b", UpdatePodSandbox)
		a, thawA := frozen("10-a", UpdatePodSandbox)
		first := inline{a, func(ev Event) {
			if ev.Kind == RunPodSandbox && ev.Pod == "p2" {
				go f.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
				synctest.Wait()
			}
		}}
		last := newPlugin("30-c")
		last.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == RunPodSandbox && ev.Pod == "p2" {
				thawA()
				time.Sleep(transit)
			}
			return nil, nil
		}
		require.NoError(t, f.Join(t.Context(), first, a.sync))
		f.joined(b, last)
		f.did("RunPodSandbox:p1", "UpdatePodSandbox:p1")
		f.did("RunPodSandbox:p2")
		thawB()
		synctest.Wait()
		assert.Contains(t, a.received(), "RunPodSandbox:p2 StopPodSandbox:p2 RemovePodSandbox:p2")
		assert.NotContains(t, b.received(), "p2")
	})
}

// A plugin that hangs in Synchronize and comes back, again and again, costs the node one timeout,
// not one for each pod or each return.
func TestL22_FlappingPluginCostsOneTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var last *plugin
		flapped := make(chan struct{})
		go func() {
			defer close(flapped)
			for range 5 {
				p := newPlugin("10-a")
				p.synchronize = func(context.Context, Snapshot) error { <-p.closed; return ErrClosed }
				assert.Error(t, f.join(p))
			}
			last = newPlugin("10-a")
			last.synchronize = func(context.Context, Snapshot) error { time.Sleep(time.Second); return nil }
			assert.NoError(t, f.join(last))
		}()
		synctest.Wait()
		start := time.Now()
		for i := range 20 {
			f.did(fmt.Sprintf("RunPodSandbox:p%d", i))
			synctest.Wait() // it is back by now
		}
		assert.Equal(t, syncTimeout, time.Since(start))
		time.Sleep(4*syncTimeout + time.Second/2 - time.Since(start) + syncTimeout)
		f.did("RunPodSandbox:late") // while it is synchronized at last
		<-flapped
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:late", last.received())
		f.did("RunPodSandbox:after")
		assert.Contains(t, last.received(), "RunPodSandbox:after", "it is asked again")
	})
}

// A permanent plugin is not dropped when it is overdue for long, or when its line is full:
// nothing would bring it back.
func TestL22_PermanentPluginStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.BacklogLimit = 2 })
		p, thaw := frozen("10-a", UpdatePodSandbox)
		builtin := &permanent{plugin: p}
		require.NoError(t, f.Join(t.Context(), builtin, p.sync))
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2", "RunPodSandbox:p3", "RunPodSandbox:p4", "UpdatePodSandbox:p1")
		for _, pod := range []string{"p1", "p2", "p3", "p4"} {
			f.end("StopPodSandbox:" + pod)
		}
		time.Sleep(time.Hour)
		assert.False(t, p.isClosed())
		thaw()
		synctest.Wait()
		f.did("RunPodSandbox:p5")
		assert.Contains(t, p.received(), "StopPodSandbox:p1 StopPodSandbox:p2 RunPodSandbox:p5")
		f.end("RemovePodSandbox:p4")
		assert.Contains(t, p.received(), "StopPodSandbox:p4 RemovePodSandbox:p4")
	})
}

// A permanent plugin is part of the runtime, and answers late if at all.
type permanent struct{ *plugin }

func (permanent) Policy() Policy { return Policy{KeepConnected: true, Permanent: true} }
