// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newHanding is a fixture in which a second connection of a name is the successor of
// the first.
func newHanding(t *testing.T, change ...func(*Options)) *fixture {
	return newFixture(t, append(change, func(o *Options) {
		o.HandOver = func(Connection) bool { return true }
	})...)
}

// comes brings in a connection and returns where its Join ends.
func (f *fixture) comes(p *plugin) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f.join(p) }()
	synctest.Wait()
	return done
}

// asks asks for an event and returns where that ends.
func (f *fixture) asks(ev string) <-chan error {
	done := f.asking(ev)
	synctest.Wait()
	return done
}

// ends tears down and returns where that ends.
func (f *fixture) ends(names ...string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f.end(names...) }()
	synctest.Wait()
	return done
}

// untilAllowed has a plugin hang in Synchronize until the channel is closed.
func (p *plugin) untilAllowed() chan struct{} {
	may := make(chan struct{})
	p.synchronize = func(ctx context.Context, _ Snapshot) error {
		select {
		case <-may:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return may
}

// syncs has a plugin take some time for Synchronize.
func (p *plugin) syncs(d time.Duration) *plugin {
	p.synchronize = func(context.Context, Snapshot) error { p.stall(d); return nil }
	return p
}

// takes has a plugin take some time for events of the given kind.
func (p *plugin) takes(d time.Duration, kind Kind) *plugin {
	p.handle = func(_ context.Context, ev Event) (any, error) {
		if ev.Kind == kind {
			p.stall(d)
		}
		return nil, nil
	}
	return p
}

func TestL19_EventsTurnToTheSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "CreateContainer:p1/c2", "RunPodSandbox:p2", "RunPodSandbox:p3")
		f.end("StopContainer:p1/c2")
		f.end("StopPodSandbox:p2")
		f.listed = Snapshot{Pods: pods("p1", "p2", "p3"), Containers: []Object{{Pod: "p1", Container: "c1"}, {Pod: "p1", Container: "c2"}}}
		told := first.told()
		f.joined(next)
		synctest.Wait()
		assert.True(t, first.isClosed(), "it is told by closing")
		require.ErrorIs(t, f.journal.reason("10-a"), ErrSucceeded)
		f.did("RunPodSandbox:p4")
		f.end("RemoveContainer:p1/c2")
		f.end("StopContainer:p1/c1", "StopPodSandbox:p1", "RemovePodSandbox:p1")
		f.end("RemovePodSandbox:p2")
		assert.Equal(t, told, first.told())
		assert.Equal(t, "Synchronize(p1 p2! p3 p1/c1) RunPodSandbox:p4 RemoveContainer:p1/c2 "+
			"StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1 RemovePodSandbox:p1 RemovePodSandbox:p2",
			strings.Replace(next.told(), "StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1", "StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1", 1))
		assert.Len(t, f.Status().Connections, 1)
	})
}

// What comes while the successor is synchronized waits, and is its own then.
func TestL19_WhatComesMeanwhileWaitsForTheSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		f.listed = Snapshot{Pods: pods("p1", "p2")}
		told, may := first.told(), next.untilAllowed()
		joined := f.comes(next)
		began := time.Now()
		run, stop, update := f.asks("RunPodSandbox:p3"), f.ends("StopPodSandbox:p1"), f.asks("UpdatePodSandbox:p2")
		time.Sleep(requestTimeout / 4)
		close(may)
		require.NoError(t, <-joined)
		require.NoError(t, <-run)
		require.NoError(t, <-stop)
		require.NoError(t, <-update)
		assert.Equal(t, requestTimeout/4, time.Since(began))
		assert.Equal(t, told, first.told())
		assert.Equal(t, "Synchronize(p1 p2) RunPodSandbox:p3 StopPodSandbox:p1 UpdatePodSandbox:p2", next.told())
	})
}

// A stop waits for the successor as for any plugin: the pod's network stands until it
// has answered.
func TestL19_StopWaitsForTheSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a").takes(time.Second, StopPodSandbox)
		f.joined(first)
		f.did("RunPodSandbox:p1")
		f.listed = Snapshot{Pods: pods("p1")}
		may := next.untilAllowed()
		f.comes(next)
		began := time.Now()
		stop := f.ends("StopPodSandbox:p1")
		close(may)
		require.NoError(t, <-stop)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

// The first finishes what it is at, and no more of it.
func TestL19_FirstFinishesItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a").takes(time.Second, StopContainer), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
		stop := f.ends("StopContainer:p1/c1", "StopPodSandbox:p1")
		joined := f.comes(next)
		assert.Empty(t, next.told(), "not before the first is done")
		require.NoError(t, <-joined)
		require.NoError(t, <-stop)
		assert.NotContains(t, first.told(), "StopPodSandbox")
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1", next.told())
	})
}

// A runtime that takes its time to list holds up nobody for longer than the line stands:
// the first goes on, and what it is told meanwhile is told to its successor, late.
func TestL19_ListThatTakesLongHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mayList := make(chan struct{})
		var listed Snapshot
		lists := 0
		f := newHanding(t, func(o *Options) {
			o.Begun = func(_ Event, pod, value any) any { return fmt.Sprint(pod, " ", value) }
			o.List = func(context.Context) (Snapshot, error) {
				s := listed
				if lists++; lists == 2 {
					<-mayList
				}
				return s, nil
			}
		})
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2", "CreateContainer:p1/c0")
		listed = Snapshot{Pods: pods("p1", "p2"), Containers: []Object{{Pod: "p1", Container: "c0"}}}
		joined := f.comes(next)
		began := time.Now()
		f.did("CreateContainer:p1/c1", "RunPodSandbox:p3", "RunPodSandbox:p4")
		assert.Equal(t, requestTimeout/2, time.Since(began))
		f.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		f.end("StopPodSandbox:p4")
		f.end("StopContainer:p1/c0")
		listed = Snapshot{
			Pods:       []Object{{Pod: "p1", Value: "pod 1"}, {Pod: "p3"}, {Pod: "p4", Stopped: true}},
			Containers: []Object{{Pod: "p1", Container: "c1", Value: "container 1"}},
			Exited:     []Object{{Pod: "p1", Container: "c0"}},
		}
		close(mayList)
		require.NoError(t, <-joined)
		synctest.Wait()
		require.Equal(t, "Synchronize(p1 p2 p1/c0) RunPodSandbox:p3 CreateContainer:p1/c1 StopContainer:p1/c0 StopPodSandbox:p2 RemovePodSandbox:p2", next.told())
		assert.Equal(t, "pod 1 container 1", next.history[2].Request)
		f.end("RemovePodSandbox:p4", "RemoveContainer:p1/c0")
		assert.Contains(t, next.told(), "RemovePodSandbox:p2 RemovePodSandbox:p4 RemoveContainer:p1/c0")
	})
}

// A container that the first was asked for, and others are still asked for, is told to
// its successor late, which does not wait for it.
func TestL19_CreationUnderWayIsToldLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first, newPlugin("20-b").takes(time.Second, CreateContainer))
		f.did("RunPodSandbox:p1")
		f.listed = Snapshot{Pods: pods("p1")}
		create := f.asks("CreateContainer:p1/c1")
		joined := f.comes(next)
		f.did("UpdatePodSandbox:p1")
		require.NoError(t, <-create)
		require.NoError(t, <-joined)
		f.did("PostCreateContainer:p1/c1")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1", first.told())
		assert.Equal(t, "Synchronize(p1) UpdatePodSandbox:p1 CreateContainer:p1/c1 PostCreateContainer:p1/c1", next.told())
	})
}

// A pod that the first has agreed to, and others are still asked for, is told by
// Synchronize alone: the successor is not asked for what the first was.
func TestL19_PodUnderWayIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first, newPlugin("20-b").takes(time.Second, RunPodSandbox))
		run := f.asks("RunPodSandbox:p1")
		f.listed = Snapshot{Pods: []Object{{Pod: "p1", Creating: true}}}
		require.NoError(t, <-f.comes(next))
		require.NoError(t, <-run)
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", first.told())
		assert.Equal(t, "Synchronize(p1)", next.told())
	})
}

// What the first has not answered is told to it, late.
func TestL19_PodThatTheFirstOwesIsToldLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, _ := frozen("10-a", RunPodSandbox)
		next := newPlugin("10-a")
		f.joined(first, newPlugin("20-b").takes(requestTimeout*3/4, RunPodSandbox))
		run := f.asks("RunPodSandbox:p1")
		time.Sleep(requestTimeout + requestTimeout/4)
		f.listed = Snapshot{Pods: []Object{{Pod: "p1", Creating: true}}}
		require.NoError(t, <-f.comes(next))
		require.NoError(t, <-run)
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1) RunPodSandbox:p1", next.told())
	})
}

// It does not wait for that once the first has gone: a plugin that has crashed can come
// back while another one is asked (L13).
func TestL19_FirstIsLostWhileACreationIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next, other := newPlugin("10-a"), newPlugin("10-a"), newPlugin("20-b")
		f.joined(first, other.takes(time.Second, CreateContainer))
		f.did("RunPodSandbox:p1")
		f.listed = Snapshot{Pods: pods("p1")}
		create := f.asks("CreateContainer:p1/c1")
		joined := f.comes(next)
		began := time.Now()
		first.Close()
		require.NoError(t, <-joined)
		assert.Zero(t, time.Since(began))
		require.NoError(t, <-create)
		f.did("PostCreateContainer:p1/c1")
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1", next.told())
	})
}

// So it is however long that takes, and if it fails, its end is told.
func TestL19_CreationThatTakesLongIsToldLate(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newHanding(t)
			first, next, other := newPlugin("10-a"), newPlugin("10-a"), newPlugin("20-b")
			other.timeouts.Request = time.Minute
			other.takes(10*time.Second, CreateContainer)
			f.joined(first, other)
			f.did("RunPodSandbox:p1")
			f.listed = Snapshot{Pods: pods("p1")}
			ctx, giveUp := context.WithCancel(t.Context())
			create := make(chan error, 1)
			go func() { create <- f.ask(ctx, "CreateContainer:p1/c1") }()
			synctest.Wait()
			began := time.Now()
			require.NoError(t, <-f.comes(next))
			assert.Zero(t, time.Since(began))
			if fails {
				giveUp()
				require.Error(t, <-create)
				f.ends("StopContainer:p1/c1", "RemoveContainer:p1/c1")
				assert.Equal(t, "Synchronize(p1) StopContainer:p1/c1 RemoveContainer:p1/c1", next.told(), "the name knows of it")
			} else {
				require.NoError(t, <-create)
				f.did("PostCreateContainer:p1/c1")
				assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1", next.told())
			}
			giveUp()
		})
	}
}

// A successor that fails to synchronize changes nothing for the first.
func TestL19_SuccessorThatFailsChangesNothing(t *testing.T) {
	for how, synchronize := range map[string]func(*plugin) func(context.Context, Snapshot) error{
		"refuses": func(*plugin) func(context.Context, Snapshot) error {
			return func(context.Context, Snapshot) error { time.Sleep(time.Second); return errRefused }
		},
		"closes": func(p *plugin) func(context.Context, Snapshot) error {
			return func(context.Context, Snapshot) error { time.Sleep(time.Second); p.Close(); return ErrClosed }
		},
		"hangs": func(p *plugin) func(context.Context, Snapshot) error {
			return func(context.Context, Snapshot) error { <-p.closed; return ErrClosed }
		},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newHanding(t)
				first, next := newPlugin("10-a"), newPlugin("10-a")
				f.joined(first)
				f.did("RunPodSandbox:p1")
				f.listed = Snapshot{Pods: pods("p1")}
				next.synchronize = synchronize(next)
				joined := f.comes(next)
				began := time.Now()
				run, stop := f.asks("RunPodSandbox:p2"), f.ends("StopPodSandbox:p1")
				require.NoError(t, <-run)
				require.NoError(t, <-stop)
				assert.LessOrEqual(t, time.Since(began), requestTimeout/2)
				require.Error(t, <-joined)
				synctest.Wait()
				f.did("RunPodSandbox:p3")
				assert.True(t, next.isClosed())
				assert.Equal(t, "Synchronize() RunPodSandbox:p1 RunPodSandbox:p2 StopPodSandbox:p1 RunPodSandbox:p3", first.told())
				assert.Equal(t, "Synchronize(p1)", next.told())
			})
		})
	}
}

// One that hangs again and again costs one timeout (L22).
func TestL19_SuccessorsThatFailCostOneTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first := newPlugin("10-a")
		f.joined(first)
		var waited time.Duration
		for i := range 5 {
			next := newPlugin("10-a")
			next.untilAllowed()
			joined := f.comes(next)
			began := time.Now()
			f.did(fmt.Sprintf("RunPodSandbox:p%d", i))
			waited += time.Since(began)
			require.Error(t, <-joined)
		}
		assert.Equal(t, requestTimeout/2, waited)
		f.joined(newPlugin("10-a"))
		synctest.Wait()
		assert.True(t, first.isClosed())
	})
}

// A successor that takes longer than one request is told after its Synchronize what
// the first was meanwhile.
func TestL19_SlowSuccessorIsToldWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2", "CreateContainer:p2/c2", "RunPodSandbox:p5")
		f.listed = Snapshot{Pods: pods("p1", "p2", "p5"), Containers: []Object{{Pod: "p2", Container: "c2"}}}
		may := next.untilAllowed()
		joined := f.comes(next)
		began := time.Now()
		f.did("RunPodSandbox:p3", "CreateContainer:p3/c3", "PostCreateContainer:p3/c3", "RunPodSandbox:p4")
		assert.Equal(t, requestTimeout/2, time.Since(began))
		f.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		f.end("StopContainer:p2/c2")
		f.end("StopPodSandbox:p4", "RemovePodSandbox:p4")
		f.listed = Snapshot{Pods: pods("p2", "p3", "p5"), Containers: []Object{{Pod: "p3", Container: "c3"}}, Exited: []Object{{Pod: "p2", Container: "c2"}}}
		close(may)
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1 p2 p5 p2/c2) RunPodSandbox:p3 CreateContainer:p3/c3 StopContainer:p2/c2 StopPodSandbox:p1 RemovePodSandbox:p1", next.told())
		assert.True(t, first.isClosed())
		f.end("StopContainer:p3/c3", "StopPodSandbox:p3", "RemoveContainer:p2/c2")
		assert.Contains(t, next.told(), "StopContainer:p3/c3 StopPodSandbox:p3 RemoveContainer:p2/c2")
	})
}

// A first that hangs is cut at its timeout, whatever its policy, and its line goes on
// in the successor.
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
			f.listed = Snapshot{Pods: pods("p1", "p2", "p3")} // p3 is about to be created
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
			assert.NotContains(t, first.told(), "p3")
			assert.Contains(t, next.told(), "StopPodSandbox:p2 RemovePodSandbox:p2")
			assert.Contains(t, next.told(), "p3", "in Synchronize or, if it was too early for that, late")
		})
	}
}

// A first that owes an answer for long is succeeded at once; what waited for it is
// told to the successor.
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
		f.did("RunPodSandbox:p3") // which it is not asked for
		f.listed = Snapshot{Pods: pods("p1", "p3")}
		began := time.Now()
		f.joined(next)
		synctest.Wait()
		assert.Zero(t, time.Since(began))
		assert.ElementsMatch(t, strings.Fields("Synchronize(p1 p3) StopContainer:p1/c1 StopPodSandbox:p1 StopPodSandbox:p2 RemovePodSandbox:p2"), strings.Fields(next.told()))
	})
}

// A first that closes while its successor is synchronized is succeeded at once. What it
// was to be asked for goes by its policy, and reaches its successor late; ends wait for that.
func TestL19_FirstIsLostAtTheTurn(t *testing.T) {
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
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", first.told())
		synctest.Wait()
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1 RunPodSandbox:p2", next.told())
	})
}

// Likewise if it is lost in a request, while its successor takes its time.
func TestL19_FirstIsLostInARequest(t *testing.T) {
	firstIsLostInARequest(t, nil)
}

// The answer of the successor is that of the name, where that is required.
func TestL19_RequiredFirstIsLostInARequest(t *testing.T) {
	firstIsLostInARequest(t, []Requirement{{Plugin: "a", Wait: time.Second}})
}

func firstIsLostInARequest(t *testing.T, required []Requirement) {
	for kind, then := range map[string]string{"RunPodSandbox:p2": "UpdatePodSandbox:p2", "CreateContainer:p1/c1": "PostCreateContainer:p1/c1"} {
		synctest.Test(t, func(t *testing.T) {
			f := newHanding(t, func(o *Options) {
				o.Required = func(Event) ([]Requirement, error) { return required, nil }
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
			assert.Equal(t, "Synchronize(p1) "+kind+" "+then, next.told())
		})
	}
}

// A creation has asked a plugin of a name that it requires, and waits for another one. The
// one it asked has not subscribed, and is succeeded by one that has: that will do (L20).
func TestL19_SuccessorAnswersWhatIsRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) {
			o.Required = func(Event) ([]Requirement, error) {
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
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", next.told())
	})
}

// A first that has gone, and a list that fails, leave a connection that joins as any.
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
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1", next.told())
		f.did("RunPodSandbox:p2")
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1 RunPodSandbox:p2", next.told())
	})
}

// One that has closed, as its watcher has yet to see, does not hide the one that serves.
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
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", third.told())
	})
}

// Of many that register, each in its turn, the newest serves in the end.
func TestL19_NewestWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		f.joined(newPlugin("10-a"))
		slow := newPlugin("10-a")
		may := slow.untilAllowed()
		slowJoined := f.comes(slow)
		older, newest := newPlugin("10-a"), newPlugin("10-a")
		olderJoined := f.comes(older)
		newestJoined := f.comes(newest)
		require.ErrorIs(t, <-olderJoined, errNewer)
		close(may)
		require.NoError(t, <-slowJoined)
		require.NoError(t, <-newestJoined)
		synctest.Wait()
		assert.True(t, slow.isClosed() && older.isClosed())
		assert.Empty(t, older.told())
		f.did("RunPodSandbox:p1")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", newest.told())
	})
}

// A successor that wants more is told of what came while the turn was kept.
func TestL19_SuccessorWantsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		first.wants = masks["ends"]
		f.joined(first)
		may := next.untilAllowed()
		joined := f.comes(next)
		f.did("RunPodSandbox:p1")
		close(may)
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", next.told())
	})
}

// Other names, and those that are not to be handed over, are served beside each other.
func TestL19_TwinsAndOtherNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.HandOver = func(c Connection) bool { return c.Name() != "10-twin" } })
		all := []*plugin{newPlugin("10-twin"), newPlugin("10-twin"), newPlugin("10-a"), newPlugin("20-a")}
		f.joined(all...)
		f.did("RunPodSandbox:p1")
		for _, p := range all {
			assert.Equal(t, "Synchronize() RunPodSandbox:p1", p.told())
		}
	})
}

// A plugin that was told to go and is started again waits until its successor leaves,
// so that the two do not take turns.
func TestL19_PredecessorThatComesBackStandsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origins := make(map[Connection]string)
		var waits []Connection
		f := newHanding(t, func(o *Options) {
			o.Origin = func(c Connection) string { return origins[c] }
			o.Waits = func(c Connection) { waits = append(waits, c) }
		})
		first, next, again, third, gone := newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a")
		origins[first], origins[next], origins[again], origins[third], origins[gone] = "old", "new", "old", "newer", "new"
		f.joined(first, next)
		older := newPlugin("10-a")
		origins[older] = "old"
		dropped := f.comes(older)
		joined := f.comes(again)
		require.ErrorIs(t, <-dropped, errNewer, "one waits for each origin")
		f.joined(third)
		f.did("RunPodSandbox:p1")
		assert.Empty(t, again.told())
		left := f.comes(gone)
		gone.Close()
		require.Error(t, <-left)
		assert.Empty(t, f.failed, "nobody has failed")
		third.Close()
		require.NoError(t, <-joined)
		f.did("RunPodSandbox:p2")
		assert.Equal(t, "Synchronize() RunPodSandbox:p2", again.told())
		assert.Equal(t, []Connection{older, again, gone}, waits)
	})
}

// A kill of the runtime in the middle of a roll-out leaves nobody who knows which plugin is the
// newer one. If the older one registers last it serves until it leaves, and the newer one then.
func TestL19_BothComeBackAfterAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origins := make(map[Connection]string)
		o := &owing{memory: newMemory(), change: func(opts *Options) {
			opts.HandOver = func(Connection) bool { return true }
			opts.Origin = func(c Connection) string { return origins[c] }
		}}
		from := func(pod string) *plugin {
			p := newPlugin("10-a")
			origins[p] = pod
			return p
		}
		o.start(t)
		o.joined(from("old"), from("new"))
		o.did("RunPodSandbox:p1")
		o.kill()
		o.start(t, "p1")
		older := from("old")
		o.joined(from("new"), older)
		newer := from("new")
		joined := o.comes(newer)
		require.NoError(t, o.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		o.did("RunPodSandbox:p2")
		o.lists("p2")
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1 RunPodSandbox:p2", older.told())
		assert.Empty(t, newer.told())
		older.Close()
		require.NoError(t, <-joined)
		require.NoError(t, o.end("StopPodSandbox:p2"))
		assert.Equal(t, "Synchronize(p2) StopPodSandbox:p2", newer.told())
	})
}

// A container that the first was asked for is made after the runtime has listed for its
// successor, while the line stands.
func TestL19_ContainerIsMadeWhileTheLineStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.listed = Snapshot{Pods: pods("p1")}
		may := next.untilAllowed()
		joined := f.comes(next)
		f.listed.Containers = []Object{{Pod: "p1", Container: "c1"}}
		made := f.asks("PostCreateContainer:p1/c1")
		close(may)
		require.NoError(t, <-joined)
		require.NoError(t, <-made)
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1", first.told())
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1", next.told())
	})
}

// One that opens a second connection of its own means it.
func TestL19_PluginSucceedsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) { o.Origin = func(Connection) string { return "one" } })
		f.joined(newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a"))
		assert.Len(t, f.Status().Connections, 1)
	})
}

func TestL19_CloseLetsGoOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next, last := newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		next.untilAllowed()
		joined, waits := f.comes(next), f.comes(last)
		run := f.asks("RunPodSandbox:p1")
		s := f.Status().Connections
		require.Len(t, s, 3)
		assert.Equal(t, []bool{false, true, true}, []bool{s[0].TakesOver, s[1].TakesOver, s[2].TakesOver})
		f.Close()
		require.Error(t, <-joined)
		require.Error(t, <-waits)
		<-run
		assert.True(t, errors.Is(f.join(newPlugin("10-a")), ErrClosed))
	})
}

// newOwingHanding is newHanding that keeps what is owed.
func newOwingHanding(t *testing.T) *owing {
	o := &owing{memory: newMemory(), change: func(o *Options) { o.HandOver = func(Connection) bool { return true } }}
	o.start(t)
	return o
}

// A successor that takes over from a first that was lost, and is not synchronized after all,
// was told of nothing: what the name knows is what the first knew (L3, L18).
func TestL19_SuccessorThatFailsLeavesWhatTheNameKnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwingHanding(t)
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
		o.lists("p1", "p2") // of which the first was not told
		next.synchronize = func(context.Context, Snapshot) error { return errRefused }
		o.asks("UpdatePodSandbox:p1")
		joined := o.comes(next)
		require.Empty(t, next.told(), "it waits for the first")
		o.left(first)
		require.ErrorIs(t, <-joined, errRefused)
		o.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		o.end("StopPodSandbox:p2", "RemovePodSandbox:p2")
		o.lists()
		assert.Equal(t, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1", o.again(newPlugin("10-a")).told())
		assert.Zero(t, o.owes("10-a"))
	})
}

// What the name is owed moves along (L18).
func TestL19_WhatIsOwedMovesAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwingHanding(t)
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
		require.Equal(t, "Synchronize(p2! p3) StopPodSandbox:p1", hung.told())
		o.end("StopPodSandbox:p3")
		next := newPlugin("10-a")
		o.joined(next)
		synctest.Wait()
		assert.ElementsMatch(t, strings.Fields("Synchronize(p2 p3) StopPodSandbox:p1 RemovePodSandbox:p1 StopPodSandbox:p2 StopPodSandbox:p3"), strings.Fields(next.told()))
		assert.Zero(t, o.owes("10-a"))
		o.end("RemovePodSandbox:p2")
		o.end("RemovePodSandbox:p3")
		assert.Contains(t, next.told(), "RemovePodSandbox:p2 RemovePodSandbox:p3")
	})
}

// A container that was asked of the first before its successor came, and is sealed while
// that is synchronized, is told to it.
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
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1 StopContainer:p1/c1", next.told())
	})
}

// The first answers what it owes while the line stands, and that is being told to an observer
// that takes its time when the line goes on: the plugin has one request at a time (L4).
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
		next, told := newPlugin("10-a"), make(chan struct{})
		next.untilAllowed()
		slow.recovered = func() { <-told }
		joined := f.comes(next)
		thaw()
		time.Sleep(requestTimeout)
		close(told)
		require.Error(t, <-joined)
		time.Sleep(time.Hour)
		assert.Empty(t, first.faults)
		assert.False(t, first.isClosed())
		assert.Contains(t, first.told(), "UpdatePodSandbox:p1 StopPodSandbox:p2 StopPodSandbox:p3")
	})
}

// A slowAnswer is an observer that takes its time with an answer that comes late.
type slowAnswer struct {
	Observer
	recovered func()
}

func (s *slowAnswer) Recovered(c Connection, ev Event, took time.Duration) {
	s.recovered()
	s.Observer.Recovered(c, ev, took)
}

// A pod begins and ends after the first has gone and while its successor is synchronized. That
// was told of it, and does not want its RunPodSandbox: it is told its end once.
func TestL19_PodBeginsAndEndsBeforeASuccessorIsSynchronized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first)
		f.did("RunPodSandbox:p0")
		f.listed = Snapshot{Pods: pods("p0", "p1")} // p1 is about to be created
		next.wants = Kind.Final
		may := next.untilAllowed()
		joined := f.comes(next)
		time.Sleep(requestTimeout) // so that what there is is listed once more
		first.Close()
		synctest.Wait()
		f.did("RunPodSandbox:p1")
		ended := f.ends("StopPodSandbox:p1", "RemovePodSandbox:p1")
		f.listed = Snapshot{Pods: pods("p0")}
		close(may)
		require.NoError(t, <-joined)
		require.NoError(t, <-ended)
		synctest.Wait()
		assert.Equal(t, "Synchronize(p0 p1) StopPodSandbox:p1 RemovePodSandbox:p1", next.told())
	})
}

// A pod that nobody of the name wants the beginning of, and that begins while the line stands,
// is in no Synchronize. The successor is told its end.
func TestL19_WhatBeginsWhileTheLineStandsIsKnown(t *testing.T) {
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
		assert.Equal(t, "Synchronize() StopPodSandbox:p1", next.told())
	})
}

// A first that owes an answer, and a pod that it did not subscribe to and that begins and
// ends while its successor takes its time: that is told no end twice, and nothing of a pod
// after its last word (L1, L3).
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
