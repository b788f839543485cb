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

// A first that hangs is cut at its timeout, whatever its policy. Its line goes on in the
// successor.
func TestL19_FirstThatHangsIsCut(t *testing.T) {
	for _, kept := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newHanding(t)
			first, next := newPlugin("10-a").hang(UpdatePodSandbox), newPlugin("10-a")
			first.keepConnected = kept
			first.handle = func(_ context.Context, ev Event) (any, error) {
				if ev.Kind == UpdatePodSandbox {
					<-first.closed
					return nil, ErrClosed
				}
				return nil, nil
			}
			f.joined(first)
			f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
			f.listed = Snapshot{Pods: pods("p1", "p2", "p3")} // p3 is being created
			began := time.Now()
			hung := f.asks("UpdatePodSandbox:p1")
			joined := f.comes(next)
			stop := f.ends("StopPodSandbox:p2", "RemovePodSandbox:p2")
			run := f.asks("RunPodSandbox:p3")
			require.NoError(t, <-hung)
			require.NoError(t, <-run)
			<-stop
			require.NoError(t, <-joined)
			synctest.Wait()
			assert.Equal(t, requestTimeout, time.Since(began))
			assert.True(t, first.isClosed())
			assert.NotContains(t, first.received(), "p3")
			assert.Contains(t, next.received(), "StopPodSandbox:p2 RemovePodSandbox:p2")
			assert.Contains(t, next.received(), "p3", "in Synchronize or, if it was too early for that, late")
		})
	}
}

// A first that has been overdue for long is succeeded at once. The successor receives the events
// that waited for it.
func TestL19_OverdueFirstIsSucceededAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		first.keepConnected = true
		first.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == StopContainer {
				<-first.closed
				return nil, ErrClosed
			}
			return nil, nil
		}
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "RunPodSandbox:p2")
		f.end("StopContainer:p1/c1", "StopPodSandbox:p1")
		f.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		f.did("RunPodSandbox:p3") // the first is not asked
		f.listed = Snapshot{Pods: pods("p1", "p3")}
		began := time.Now()
		f.joined(next)
		synctest.Wait()
		assert.Zero(t, time.Since(began))
		assert.ElementsMatch(t, strings.Fields("Synchronize(p1 p3) StopContainer:p1/c1 StopPodSandbox:p1 StopPodSandbox:p2 RemovePodSandbox:p2"), strings.Fields(next.received()))
	})
}

// A first that closes while its successor is synchronized is succeeded at once. For the requests
// in its line its policy decides, and its successor receives them late. Ends wait for the
// successor.
func TestL19_FirstIsLostDuringTheHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1")
		f.listed = Snapshot{Pods: pods("p1")}
		may := next.untilAllowed()
		joined := f.comes(next)
		run, stop := f.asks("RunPodSandbox:p2"), f.ends("StopPodSandbox:p1", "RemovePodSandbox:p1")
		first.Close()
		synctest.Wait()
		close(may)
		require.NoError(t, <-joined)
		require.NoError(t, <-run)
		require.NoError(t, <-stop)
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", first.received())
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1 RunPodSandbox:p2", next.received())
	})
}

// Likewise if it is lost in a request, while its successor takes its time.
func TestL19_FirstIsLostInARequest(t *testing.T) {
	firstIsLostInARequest(t, nil)
}

// Where the name is required, the answer of the successor counts.
func TestL19_RequiredFirstIsLostInARequest(t *testing.T) {
	firstIsLostInARequest(t, []Requirement{{Plugin: "a", Wait: time.Second}})
}

func firstIsLostInARequest(t *testing.T, required []Requirement) {
	for kind, then := range map[string]string{"RunPodSandbox:p2": "UpdatePodSandbox:p2", "CreateContainer:p1/c1": "PostCreateContainer:p1/c1"} {
		synctest.Test(t, func(t *testing.T) {
			f := newHanding(t, func(o *Options) {
				o.Required = func(context.Context, Event) ([]Requirement, error) { return required, nil }
			})
			first, next := newPlugin("10-a"), newPlugin("10-a")
			f.joined(first)
			f.did("RunPodSandbox:p1")
			f.listed = Snapshot{Pods: pods("p1")}
			may := next.untilAllowed()
			joined := f.comes(next)
			time.Sleep(requestTimeout + time.Second)
			first.handle = func(context.Context, Event) (any, error) { <-first.closed; return nil, ErrClosed }
			asked := f.asks(kind)
			first.Close()
			synctest.Wait()
			close(may)
			require.NoError(t, <-joined)
			require.NoError(t, <-asked)
			f.did(then)
			assert.Equal(t, "Synchronize(p1) "+kind+" "+then, next.received())
		})
	}
}

// A creation has asked a required plugin, and waits for another one of the name. The plugin that
// it has asked did not subscribe. A plugin that did subscribe succeeds it: the answer of that one
// is enough (L20).
func TestL19_SuccessorApprovesForARequiredPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) {
			o.Required = func(context.Context, Event) ([]Requirement, error) {
				return []Requirement{{Plugin: "a", Wait: time.Minute}}, nil
			}
		})
		first, next, other := newPlugin("10-a"), newPlugin("10-a"), newPlugin("20-a")
		first.wants = masks["ends"]
		f.joined(newPlugin("00-b").takes(time.Second, RunPodSandbox), first, other)
		run := f.asks("RunPodSandbox:p1")
		other.Close()
		time.Sleep(10 * time.Second)
		f.joined(next)
		require.NoError(t, <-run)
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", next.received())
	})
}

// If the first disconnects before the list ends, its successor joins like any connection.
func TestL19_FirstIsLostBeforeTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mayList := make(chan struct{}, 2)
		mayList <- struct{}{}
		f := newHanding(t, func(o *Options) {
			o.List = func(context.Context) (Snapshot, error) {
				<-mayList
				return Snapshot{Pods: pods("p1")}, nil
			}
		})
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1")
		joined := f.comes(next)
		first.Close()
		synctest.Wait()
		f.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		close(mayList)
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
		f.did("RunPodSandbox:p2")
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1 RunPodSandbox:p2", next.received())
	})
}

// A connection that has closed unnoticed does not hide the one that serves.
func TestL19_ConnectionThatHasJustClosedIsSucceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, second, third := &breaking{plugin: newPlugin("10-a")}, newPlugin("10-a"), newPlugin("10-a")
		require.NoError(t, f.Join(t.Context(), first, first.sync))
		synctest.Wait() // the watcher waits for the plugin's own channel
		first.broken.Store(true)
		f.joined(second, third)
		synctest.Wait()
		assert.True(t, second.isClosed())
		f.did("RunPodSandbox:p1")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", third.received())
	})
}
