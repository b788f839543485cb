// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A plugin that is busy with one pod delays an end of another pod only if it subscribed to that
// end. Its ledger has the end in either case.
func TestL14_EndsDoNotWaitForPluginsWithoutTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		busy := newPlugin("10-busy")
		busy.wants = func(k Kind) bool { return k == RunPodSandbox || k == RemovePodSandbox }
		busy.keepConnected = true
		f.joined(busy)
		f.did("RunPodSandbox:p3", "CreateContainer:p3/c3", "RunPodSandbox:p4")
		busy.hang(RunPodSandbox)
		go f.ask(t.Context(), "RunPodSandbox:p1")
		synctest.Wait()
		go f.ask(t.Context(), "RunPodSandbox:p2") // in line behind p1
		synctest.Wait()

		start := time.Now()
		f.end("StopContainer:p3/c3")
		f.end("StopContainer:p3/c3") // as by its exit and by a request
		assert.Zero(t, time.Since(start), "waited for a plugin that did not subscribe")
		f.end("RemovePodSandbox:p4")
		assert.Equal(t, requestTimeout, time.Since(start), "did not wait for a plugin that subscribed")
	})
}

// A plugin is busy with one pod, and has received the Stop of another. It did not subscribe to the
// removal, which does not wait for it.
func TestL14_RemovalWaitsOnlyForMissingEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		busy := newPlugin("10-busy")
		busy.wants = func(k Kind) bool { return k == RunPodSandbox || k == StopPodSandbox }
		busy.keepConnected = true
		f.joined(busy)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		f.end("StopPodSandbox:p1")
		busy.hang(RunPodSandbox)
		go f.ask(t.Context(), "RunPodSandbox:p3")
		synctest.Wait()

		start := time.Now()
		f.end("RemovePodSandbox:p1")
		assert.Zero(t, time.Since(start), "waited for a plugin that receives nothing")
		f.end("RemovePodSandbox:p2")
		assert.Equal(t, requestTimeout, time.Since(start), "did not wait for the Stop that is missing")
		synctest.Wait()
		assert.Contains(t, busy.received(), "RunPodSandbox:p3")
	})
}

// The ledger of a busy plugin does not have a pod yet, because the pod began meanwhile. Its removal
// waits for the Stop that the plugin must receive first.
func TestL14_RemovalWaitsForTheStopOfAPodInTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		busy := newPlugin("10-busy").hang(CreateContainer)
		busy.wants = func(k Kind) bool { return k == CreateContainer || k == StopPodSandbox }
		busy.keepConnected = true
		f.joined(busy)
		f.did("RunPodSandbox:p1")
		go f.ask(t.Context(), "CreateContainer:p1/c1")
		synctest.Wait()
		f.did("RunPodSandbox:p2")

		start := time.Now()
		f.end("RemovePodSandbox:p2")
		assert.Equal(t, requestTimeout, time.Since(start))
	})
}

func TestL4_PluginsCallBackWithoutDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.TeardownWait = func() time.Duration { return requestTimeout / 2 }
		})
		a, b := newPlugin("10-a"), newPlugin("20-b")
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == CreateContainer && ev.Container == "c2" {
				return "evict c1", nil
			}
			return nil, nil
		}
		b.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == CreateContainer && ev.Container == "c2" {
				// The plugin has the runtime stop a container at once, and is itself to receive
				// that. It is busy, so the runtime waits one bound, no more.
				f.end("StopContainer:p1/c0")
			}
			return nil, nil
		}
		f.joined(a, b)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c0", "CreateContainer:p1/c1")
		start := time.Now()
		err := f.Ask(t.Context(), event("CreateContainer:p1/c2"), func(_ Connection, reply any) error {
			if reply == "evict c1" {
				assert.NoError(t, f.end("StopContainer:p1/c1"))
				assert.Zero(t, time.Since(start))
			}
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, requestTimeout/2, time.Since(start))
		synctest.Wait()
		assert.Contains(t, a.received(), "CreateContainer:p1/c2 StopContainer:p1/c1 StopContainer:p1/c0")
		assert.Contains(t, b.received(), "StopContainer:p1/c1 CreateContainer:p1/c2 StopContainer:p1/c0")
		assert.Empty(t, append(a.faults, b.faults...))
	})
}

func TestL14_BacklogDropsOnePluginAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.BacklogLimit = 1000 })
		a, b := newPlugin("10-a").hang(StopPodSandbox), newPlugin("20-b")
		a.keepConnected = true
		f.joined(a, b)
		const pods, atOnce = 10_000, 100
		for i := range pods {
			f.did(fmt.Sprintf("RunPodSandbox:p%d", i))
		}
		var removals sync.WaitGroup
		for w := range atOnce {
			removals.Go(func() {
				for i := w; i < pods; i += atOnce {
					f.end(fmt.Sprintf("StopPodSandbox:p%d", i), fmt.Sprintf("RemovePodSandbox:p%d", i))
				}
			})
		}
		start := time.Now()
		removals.Wait()
		assert.LessOrEqual(t, time.Since(start), 1000/atOnce*requestTimeout, "no teardown waits once it is dropped")
		synctest.Wait()
		assert.True(t, a.isClosed())
		require.ErrorIs(t, f.journal.reason("10-a"), ErrBacklog)
		assert.Equal(t, 1+3*pods, b.count())
	})
}

func TestL14_NothingWaitsForPluginsWithoutTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a").hang(CreateContainer)
		a.wants = func(k Kind) bool { return k == CreateContainer || k == StopPodSandbox }
		a.keepConnected = true
		f.joined(a)
		f.did("RunPodSandbox:p1")
		go f.ask(t.Context(), "CreateContainer:p1/c1")
		synctest.Wait()

		start := time.Now()
		f.did("RunPodSandbox:p2", "UpdatePodSandbox:p2")
		assert.Zero(t, time.Since(start))

		// The engine knows that the plugin receives the Stop of p2.
		f.end("StopPodSandbox:p2")
		time.Sleep(transit)
		synctest.Wait()
		assert.Equal(t, "Synchronize() CreateContainer:p1/c1 StopPodSandbox:p2", a.received())
	})
}

// A plugin without subscription to first events joins. A pod that begins after its list, and
// before it is synchronized, is in no Synchronize. The plugin receives its end all the same.
func TestL14_PodThatBeginsDuringSynchronizeIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.wants = func(k Kind) bool { return k == StopPodSandbox }
		may := a.untilAllowed()
		joined := f.comes(a)
		synctest.Wait()
		f.did("RunPodSandbox:p1")
		close(may)
		require.NoError(t, <-joined)
		require.NoError(t, f.end("StopPodSandbox:p1"))
		assert.Equal(t, "Synchronize() StopPodSandbox:p1", a.received())
	})
}

func TestL13_CreationWaitsForAJoinNoLongerThanItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.failRequest = true
		a.synchronize = func(ctx context.Context, _ Snapshot) error {
			<-ctx.Done()
			return ctx.Err()
		}
		joined := make(chan error)
		go func() { joined <- f.join(a) }()
		synctest.Wait()
		start := time.Now()
		require.NoError(t, f.ask(t.Context(), "RunPodSandbox:p1"), "a plugin that never joined fails nothing")
		assert.Equal(t, syncTimeout, time.Since(start))
		err := <-joined
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "synchronize plugin 10-a: no answer within 5s")
		synctest.Wait()
		assert.True(t, a.isClosed())
		assert.ErrorIs(t, f.journal.reason("10-a"), context.DeadlineExceeded)
		assert.Empty(t, f.Status().Connections)
	})
}

func TestL13_JoiningDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a").hang(RunPodSandbox, StopPodSandbox)
		a.keepConnected = true
		hung := newPlugin("20-hung")
		hung.synchronize = func(ctx context.Context, _ Snapshot) error {
			<-ctx.Done()
			return ctx.Err()
		}
		f.joined(a)
		go f.join(hung)
		go f.ask(t.Context(), "RunPodSandbox:p1")
		synctest.Wait()
		go f.end("StopPodSandbox:p1")
		synctest.Wait()
		start := time.Now()
		f.joined(newPlugin("30-c"))
		assert.Zero(t, time.Since(start))
	})
}

func TestL13_FailedJoinLeavesNothing(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name string
		list func(context.Context) (Snapshot, error)
		sync func(context.Context, Snapshot) error
	}{
		{"list", func(context.Context) (Snapshot, error) { return Snapshot{}, broken }, nil},
		{"synchronize", nil, func(context.Context, Snapshot) error { return broken }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(o *Options) {
					if tc.list != nil {
						o.List = tc.list
					}
				})
				a := newPlugin("10-a")
				a.synchronize = tc.sync
				err := f.join(a)
				require.ErrorIs(t, err, broken)
				synctest.Wait()
				assert.True(t, a.isClosed())
				assert.ErrorIs(t, f.journal.reason("10-a"), broken)
				assert.Empty(t, f.Status().Connections)
			})
		})
	}
}

func TestL13_ConnectionClosesDuringSynchronize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.synchronize = func(ctx context.Context, _ Snapshot) error {
			<-ctx.Done()
			return ctx.Err()
		}
		joined, run := make(chan error), make(chan error)
		go func() { joined <- f.join(a) }()
		synctest.Wait()
		go func() { run <- f.ask(t.Context(), "RunPodSandbox:p1") }()
		synctest.Wait()
		start := time.Now()
		a.Close()
		require.ErrorIs(t, <-joined, ErrClosed)
		require.NoError(t, <-run)
		assert.Zero(t, time.Since(start))
	})
}
