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

// A runtime takes longer for its list than the line stands. Successors still take over.
func TestL19_SlowListKeepsNoSuccessorOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) {
			o.List = func(context.Context) (Snapshot, error) {
				time.Sleep(requestTimeout/2 + requestTimeout/10)
				return Snapshot{}, nil
			}
		})
		f.joined(newPlugin("10-a"))
		for i := range 5 {
			next := newPlugin("10-a")
			joined := f.comes(next)
			time.Sleep(requestTimeout * 3 / 4) // the line goes on, and stands a second time
			var err error
			var waited time.Duration
			for n := 0; ; n++ {
				began := time.Now()
				f.did(fmt.Sprintf("RunPodSandbox:p%d-%d", i, n))
				waited = max(waited, time.Since(began))
				time.Sleep(100 * time.Millisecond)
				select {
				case err = <-joined:
				default:
					continue
				}
				break
			}
			assert.NoError(t, err)
		}
	})
}

// Likewise if the first has disconnected.
func TestL19_SlowListKeepsNoSuccessorOfALostFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) {
			o.List = func(context.Context) (Snapshot, error) {
				time.Sleep(requestTimeout/2 + requestTimeout/10)
				return Snapshot{}, nil
			}
		})
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		next.synchronize = func(context.Context, Snapshot) error { first.Close(); return nil }
		assert.NoError(t, <-f.comes(next))
	})
}

// A creation waits for a required plugin that is not synchronized yet as if it were disconnected,
// and asks it when it is synchronized.
func TestL20_PluginThatIsSynchronizedLateIsAsked(t *testing.T) {
	for _, failed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, func(o *Options) {
				o.Required = func(context.Context, Event) ([]Requirement, error) {
					return []Requirement{{Plugin: "must", Wait: time.Minute}}, nil
				}
			})
			slow := newPlugin("00-slow").takes(time.Second, RunPodSandbox)
			must, again := newPlugin("10-must"), newPlugin("10-must")
			f.joined(slow, must)
			run := f.asks("RunPodSandbox:p1")
			must.Close()
			synctest.Wait()
			again.timeouts.Sync = 30 * time.Second
			if failed {
				broken := newPlugin("10-must")
				broken.synchronize = func(context.Context, Snapshot) error { return errRejected }
				require.Error(t, f.join(broken))
				again.synchronize = func(context.Context, Snapshot) error { time.Sleep(2 * time.Second); return nil }
			} else {
				again.synchronize = func(context.Context, Snapshot) error { time.Sleep(8 * time.Second); return nil }
			}

			joined := f.comes(again)
			require.NoError(t, <-joined)
			err := <-run
			assert.NoError(t, err)
		})
	}
}

// The runtime lists a second time for a successor, and hangs. A pod waits for this list no longer
// than for a Synchronize.
func TestL13_SecondListThatHangsIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		f := newHanding(t, func(o *Options) {
			o.SyncTimeout = o.RequestTimeout
			o.List = func(ctx context.Context) (Snapshot, error) {
				if lists++; lists == 3 {
					<-ctx.Done()
				}
				return Snapshot{}, nil
			}
		})
		f.joined(newPlugin("10-a"))
		joined := f.comes(newPlugin("10-a").syncs(requestTimeout - time.Millisecond))
		time.Sleep(requestTimeout)
		start := time.Now()
		f.did("RunPodSandbox:p1")
		assert.LessOrEqual(t, time.Since(start), requestTimeout)
		assert.ErrorIs(t, <-joined, ErrList)
	})
}

// A caller that waits for a first that is lost does not wait for the Synchronize of its
// successor.
func TestL13_CallerWaitsForNoSuccessorOfALostFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		first.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == UpdatePodSandbox {
				<-first.closed
				return nil, ErrClosed
			}
			return nil, nil
		}
		next.timeouts.Sync = time.Minute // a timeout of its own
		f.joined(first)
		f.did("RunPodSandbox:p0")
		next.untilAllowed()
		f.comes(next)
		time.Sleep(requestTimeout) // the line goes on
		f.asks("UpdatePodSandbox:p0")
		run := f.asks("RunPodSandbox:p1")
		first.Close()
		began := time.Now()
		require.NoError(t, <-run)
		assert.LessOrEqual(t, time.Since(began), syncTimeout, "it waited for a successor that is being synchronized")
	})
}

// If the runtime does not list, nothing is kept of connections that waited for its list.
func TestL13_ListThatHangsKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.List = func(ctx context.Context) (Snapshot, error) { <-ctx.Done(); return Snapshot{}, ctx.Err() }
		})
		for range 50 {
			require.Error(t, f.join(newPlugin("10-a")))
		}
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		assert.LessOrEqual(t, len(f.unlisted)+len(f.listing), 2)
	})
}

// A pod begins while a slow successor is synchronized, and ends while it is listed for again, when the
// line stands. No plugin receives CreateContainer of a container in that pod.
func TestL3_ContainerThatEndsDuringTheSecondListDoesNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hold chan struct{}
		f := newHanding(t, func(o *Options) {
			list := o.List
			o.List = func(ctx context.Context) (Snapshot, error) {
				s, err := list(ctx)
				if hold != nil {
					<-hold
				}
				return s, err
			}
		})
		first, next, last := newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1")
		f.listed.Pods = pods("p1")
		may := next.untilAllowed()
		joined := f.comes(next)
		time.Sleep(requestTimeout) // it is synchronized while the first goes on
		f.did("CreateContainer:p1/c0", "CreateContainer:p1/c1", "PostCreateContainer:p1/c0", "PostCreateContainer:p1/c1")
		f.listed.Containers = []Object{{Pod: "p1", Container: "c0"}, {Pod: "p1", Container: "c1"}}
		hold = make(chan struct{})
		next.hang(CreateContainer)
		close(may)
		synctest.Wait() // the list has been read
		ended := f.ends("StopPodSandbox:p1", "RemovePodSandbox:p1")
		f.listed = Snapshot{}
		close(hold)
		hold = nil
		require.NoError(t, <-joined)
		synctest.Wait()
		turns := f.comes(last)
		next.Close()
		require.NoError(t, <-turns)
		require.NoError(t, <-ended)
		synctest.Wait()
		assert.NotContains(t, next.received()+last.received(), "CreateContainer", "the pod has ended")
	})
}
