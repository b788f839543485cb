// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Faults that harsh worlds have found, each in a test of its own.

// A required first times out in a request while its successor lists for the second time. The
// creation waits for the approval of the successor, which is asked and does not receive the
// creation late.
func TestL19_SuccessorIsAskedForCreationsUnderWay(t *testing.T) {
	for _, kind := range []string{"RunPodSandbox:p2", "CreateContainer:p1/c1"} {
		synctest.Test(t, func(t *testing.T) {
			var f *fixture
			f = newHanding(t, func(o *Options) {
				o.Required = func(context.Context, Event) ([]Requirement, error) {
					return []Requirement{{Plugin: "a", Wait: time.Minute}}, nil
				}
				o.List = func(context.Context) (Snapshot, error) {
					time.Sleep(time.Second)
					return f.listed, nil
				}
			})
			first, next := newPlugin("10-a"), newPlugin("10-a")
			f.joined(first)
			f.did("RunPodSandbox:p1")
			f.listed = Snapshot{Pods: pods("p1")}
			first.handle = func(context.Context, Event) (any, error) { <-first.closed; return nil, ErrClosed }
			may := next.untilAllowed()
			joined := f.comes(next)
			time.Sleep(1500 * time.Millisecond) // the line no longer stands
			asked := f.asks(kind)
			f.listed.Pods = append(f.listed.Pods, pods("p2")...)
			f.listed.Containers = append(f.listed.Containers, Object{Pod: "p1", Container: "c1"})
			close(may)
			require.NoError(t, <-joined)
			require.NoError(t, <-asked)
			assert.Equal(t, "Synchronize(p1) "+kind, next.received())
			assert.Contains(t, f.journal.outcomes(event(kind).Kind), "10-a answered")
			assert.NotContains(t, f.journal.outcomes(event(kind).Kind), "answered late")
		})
	}
}

// The pod of a container has gone while the runtime was down, and the plugin never knew the pod.
// The store has dropped the missed end of the container, which nothing else delivers.
func TestL18_DroppedEndsLeaveNothing(t *testing.T) {
	for _, listed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
			a := newPlugin("10-a")
			o.joined(a)
			o.did("CreateContainer:p1/c1")
			o.left(a)
			o.Close()
			o.fixture = newFixture(t, func(opts *Options) {
				opts.MissedEvents = &fullMemory{o.memory}
				opts.List = func(context.Context) (Snapshot, error) {
					if !listed {
						listed = true
						return Snapshot{}, errors.New("not yet")
					}
					return Snapshot{}, nil
				}
			})
			_ = o.Recall(t.Context())
			o.again(a)
			is := o.Status().Connections[0]
			assert.Zero(t, is.Pods+is.Containers)
		})
	}
}

// fullMemory is a memory that has no place for any end.
type fullMemory struct{ *memory }

func (m *fullMemory) Miss(of, kind string, object [2]string, request string) bool {
	defer m.Delivered(of, kind, object)
	return m.memory.Miss(of, kind, object, request)
}

// The runtime lists objects in creation before complete ones, and a container is in both lists.
// It is known once, and its end does not delay that of its pod.
func TestL18_ContainerThatIsListedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		a.wants = masks["pods"]
		o.joined(a)
		o.kill()
		o.start(t, "p1", "p1/c1", "p1", "p1/c1")
		o.end("StopPodSandbox:p1")
		o.end("RemovePodSandbox:p1")
		o.lists()
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", o.again(a).received())
	})
}

// A pod was removed while its plugin was disconnected. The plugin had not subscribed to Remove,
// or the store has dropped the Remove. When the plugin is back, its ledger ends the pod after the
// stored Stop, and each end has a request.
func TestL18_RemovalThatIsNotStoredHasARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &remembering{memory: newMemory()}
		o.change = func(opts *Options) {
			opts.Encode = func(ev Event) string { return ev.Request.(string) }
			opts.Decode = func(_ Event, stored string) any { return stored }
			opts.ImpliedEnd = func(kind Kind, _ string, of Event) any { return kind.String() + " for " + of.Request.(string) }
		}
		o.start(t)
		a := newPlugin("10-a")
		a.wants = func(k Kind) bool { return k == RunPodSandbox || k == StopPodSandbox }
		o.joined(a)
		o.did("RunPodSandbox:p1")
		o.left(a)
		for _, ev := range events([]string{"StopPodSandbox:p1", "RemovePodSandbox:p1"}) {
			ev.Request = "the " + ev.Kind.String()
			require.NoError(t, o.Teardown(t.Context(), []Event{ev}, nil))
		}
		var requests []any
		next := newPlugin("10-a")
		next.handle = func(_ context.Context, ev Event) (any, error) {
			requests = append(requests, ev.Request)
			return nil, nil
		}
		o.joined(next)
		synctest.Wait()
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
		assert.Equal(t, []any{"the StopPodSandbox", "RemovePodSandbox for the StopPodSandbox"}, requests)
	})
}

// A plugin without subscription to first events comes back while a pod is created that its name
// knows, and the pod is noted for it again. The pod ends before the plugin is synchronized: the
// plugin receives its end once.
func TestL18_PodNotedAgainEndsOnce(t *testing.T) {
	for first, ends := range map[string][]string{
		"RunPodSandbox:p1":      {"StopPodSandbox:p1", "RemovePodSandbox:p1"},
		"CreateContainer:p0/c1": {"StopContainer:p0/c1", "RemoveContainer:p0/c1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newRemembering(t)
			a, next := newPlugin("10-a").hang(UpdatePodSandbox), newPlugin("10-a")
			a.wants, next.wants = masks["no first"], masks["no first"]
			o.joined(a)
			o.did("RunPodSandbox:p0")
			o.joined(newPlugin("20-b").takes(time.Second, event(first).Kind))
			o.asks("UpdatePodSandbox:p0")
			begins := o.asks(first)
			o.left(a)
			o.lists("p0")
			may := next.untilAllowed()
			joined := o.comes(next)
			require.NoError(t, <-begins)
			for _, end := range ends {
				o.end(end)
			}
			close(may)
			require.NoError(t, <-joined)
			synctest.Wait()
			assert.Equal(t, "Synchronize(p0) "+strings.Join(ends, " "), next.received())
		})
	}
}

// The store has dropped the ends of more pods than may wait for a plugin. None of these pods
// waits when the plugin is back.
func TestL18_DroppedEndsFillNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &remembering{memory: newMemory(), change: func(opts *Options) { opts.BacklogLimit = 2 }}
		o.start(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1", "RunPodSandbox:p2", "RunPodSandbox:p3", "RunPodSandbox:p4", "RunPodSandbox:p5")
		o.left(a)
		for _, pod := range []string{"p1", "p2", "p3", "p4"} {
			o.end("StopPodSandbox:"+pod, "RemovePodSandbox:"+pod)
		}
		stored := o.memory.now["10-a"]
		stored.missed = stored.missed[len(stored.missed)-2:]
		o.lists("p5")
		next := newPlugin("10-a").takes(time.Second, StopPodSandbox)
		o.joined(next)
		require.NoError(t, o.ask(t.Context(), "UpdatePodSandbox:p5"))
		assert.Equal(t, "Synchronize(p5) StopPodSandbox:p4 RemovePodSandbox:p4 UpdatePodSandbox:p5", next.received())
	})
}

// A first has disconnected, and its successor, which has missed a pod, is being synchronized. The
// name is not disconnected, and is not forgotten: the successor receives the pod because the
// first knew it.
func TestL19_NameIsNotForgottenWhileASuccessorJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &remembering{memory: newMemory(), change: func(opts *Options) { opts.HandOver = func(Connection) bool { return true } }}
		o.start(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		o.joined(first)
		may := next.untilAllowed()
		joined := o.comes(next)
		time.Sleep(requestTimeout)
		o.did("RunPodSandbox:p1")
		o.lists("p1")
		o.left(first)
		_, forgot := o.Forget("10-a")
		assert.False(t, forgot)
		close(may)
		require.NoError(t, <-joined)
		synctest.Wait()
		o.did("CreateContainer:p1/c1")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1", next.received())
	})
}

// A container is removed while a successor that knows it is synchronized, and the runtime still
// lists it as exited. Its Remove is not handed in again, so the successor receives it late.
func TestL19_ContainerIsRemovedAndStillListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
		may := next.untilAllowed()
		joined := f.comes(next)
		time.Sleep(requestTimeout)
		require.NoError(t, f.end("StopContainer:p1/c1"))
		require.NoError(t, f.end("RemoveContainer:p1/c1"))
		f.listed = Snapshot{Pods: pods("p1"), Exited: []Object{{Pod: "p1", Container: "c1"}}}
		close(may)
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1 p1/c1) StopContainer:p1/c1 RemoveContainer:p1/c1", next.received())
	})
}
