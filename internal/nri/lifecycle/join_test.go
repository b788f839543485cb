// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A plugin joins while a pod is in CNI ADD, which then fails.
func TestL3_PodInCreationIsListedAndEndsIfItFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.listed.Pods = pods("p1")
		f.joined(a)
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1", a.received())
	})
}

// A plugin joins during the hook of another one. It has the pod in its list, and is asked before
// the pod is Ready.
func TestL2_PluginThatJoinsDuringTheHookIsAskedBeforeTheSeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, b := newPlugin("10-a"), newPlugin("05-b").reject(RunPodSandbox)
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == RunPodSandbox {
				f.listed.Pods = pods("p1")
				f.joined(b)
			}
			return nil, nil
		}
		f.joined(a)
		err := f.ask(t.Context(), "RunPodSandbox:p1")
		require.ErrorIs(t, err, errRejected, "its rejection counts")
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		assert.Equal(t, "Synchronize(p1) RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1", b.received())
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1", a.received())
	})
}

// A pod ends while a plugin synchronizes.
func TestL3_PodEndsDuringSynchronize(t *testing.T) {
	for _, tc := range []struct {
		name     string
		listed   []Object
		received string
	}{
		{"in the list", pods("p1"), "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1"},
		{"not in the list", nil, "Synchronize()"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.did("RunPodSandbox:p1")
				a := newPlugin("10-a")
				a.synchronize = func(context.Context, Snapshot) error {
					go f.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
					synctest.Wait()
					return nil
				}
				f.listed.Pods = tc.listed
				f.joined(a)
				synctest.Wait()
				assert.Equal(t, tc.received, a.received())
			})
		})
	}
}

// A pod that was stopped before is listed as stopped, and the plugin receives only its Remove,
// whether the engine or only the runtime knows of the stop.
func TestL2_StoppedPodGetsOnlyItsRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		require.NoError(t, f.end("StopPodSandbox:p1"))
		a := newPlugin("10-a")
		f.listed.Pods = []Object{{Pod: "p1"}, {Pod: "p2", Stopped: true}, {Pod: "p3"}}
		f.listed.Containers = []Object{{Pod: "p1", Container: "c1"}} // its exit is not noticed yet
		f.joined(a)
		require.NoError(t, f.end("StopContainer:p1/c1", "RemoveContainer:p1/c1", "StopPodSandbox:p1", "RemovePodSandbox:p1"))
		require.NoError(t, f.end("StopPodSandbox:p2", "RemovePodSandbox:p2"))
		assert.Equal(t, "Synchronize(p1! p2! p3) RemovePodSandbox:p1 RemovePodSandbox:p2", a.received())
	})
}

// A plugin that joins does not receive an object that is still listed, but whose Remove has been
// sent: it would never receive the end.
func TestL3_ObjectsBeingRemovedAreNotDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2", "CreateContainer:p2/c1", "PostCreateContainer:p2/c1")
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		require.NoError(t, f.end("RemoveContainer:p2/c1"))
		f.listed.Pods = pods("p1", "p2")
		f.listed.Containers = []Object{{Pod: "p2", Container: "c1"}}
		a := newPlugin("10-a")
		f.joined(a)
		assert.Equal(t, "Synchronize(p2)", a.received())

		// Their removal failed in the runtime, which still lists them after many other removals.
		f.removeOthers()
		b := newPlugin("20-b")
		f.joined(b)
		assert.Equal(t, "Synchronize(p1 p2 p2/c1)", b.received())
	})
}

// Two removals at once. One fails: the pod is still being removed.
func TestL3_TwoRemovalsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("RunPodSandbox:p1")
		for range 2 {
			require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		}
		f.listed.Pods = pods("p1")
		a, b := newPlugin("10-a"), newPlugin("20-b")
		for i := range remembered - 1 {
			require.NoError(t, f.end(fmt.Sprintf("RemovePodSandbox:other%d", i)))
		}
		f.joined(a)
		assert.Equal(t, "Synchronize()", a.received(), "the first of the two is forgotten")
		require.NoError(t, f.end("RemovePodSandbox:other"))
		f.joined(b)
		assert.Equal(t, "Synchronize(p1)", b.received())
	})
}

// A plugin that joins at any moment of a container's creation receives the container exactly
// once.
func TestL2_ContainerInCreationIsDeliveredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		during, after, late := newPlugin("20-during"), newPlugin("30-after"), newPlugin("40-late")
		a := newPlugin("10-a")
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == CreateContainer {
				f.joined(during)
			}
			return nil, nil
		}
		f.joined(a)
		f.did("RunPodSandbox:p1")
		f.listed.Pods = pods("p1")
		ev := event("CreateContainer:p1/c1")
		ev.Request = "request of c1"
		require.NoError(t, f.Ask(t.Context(), ev, nil))
		f.joined(after) // all have approved it, the runtime does not have it yet
		assert.Equal(t, "Synchronize(p1)", after.received())
		f.listed.Containers = []Object{{Pod: "p1", Container: "c1", Value: "listed c1"}}
		f.joined(late)
		f.did("PostCreateContainer:p1/c1")
		require.NoError(t, f.end("StopContainer:p1/c1"))

		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1 StopContainer:p1/c1", during.received())
		require.Equal(t, during.received(), after.received())
		assert.Equal(t, "Synchronize(p1 p1/c1) PostCreateContainer:p1/c1 StopContainer:p1/c1", late.received())
		assert.Equal(t, "request of c1", after.history[1].Request)
		assert.Equal(t, "listed c1", late.history[0].listed.Containers[0].Value)
	})
}

// Plugins that join between the last approval and a failure of the creation receive nothing of
// it.
func TestL3_UndoneCreationIsNotDeliveredToJoiners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.listed.Pods = pods("p1")
		a, b := newPlugin("10-a"), newPlugin("20-b")
		f.joined(a)
		require.NoError(t, f.end("StopContainer:p1/c1", "RemoveContainer:p1/c1"))
		f.joined(b)
		assert.Equal(t, "Synchronize(p1)", a.received())
		assert.Equal(t, a.received(), b.received())
	})
}

func TestL2_PodInBothListsIsDeliveredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.listed.Pods = []Object{{Pod: "p1", Value: "creating"}, {Pod: "p2"}, {Pod: "p1", Value: "ready"}}
		f.joined(a)
		assert.Equal(t, "Synchronize(p1 p2)", a.received())
		assert.Equal(t, "ready", a.history[0].listed.Pods[0].Value)
	})
}

func TestL3_TwoConnectionsOfOnePlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		old, next := newPlugin("10-a").hang(UpdatePodSandbox), newPlugin("10-a")
		f.joined(old)
		f.did("RunPodSandbox:p1")
		f.listed.Pods = pods("p1")
		f.joined(next)
		updated := make(chan error)
		go func() { updated <- f.ask(t.Context(), "UpdatePodSandbox:p1") }()
		synctest.Wait()

		start := time.Now()
		old.Close() // releases its own callers, and no others
		require.NoError(t, <-updated)
		assert.Zero(t, time.Since(start))
		require.NoError(t, f.end("StopPodSandbox:p1"))
		assert.Equal(t, "Synchronize(p1) UpdatePodSandbox:p1 StopPodSandbox:p1", next.received())
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 UpdatePodSandbox:p1", old.received())
	})
}

// The runtime is killed in the middle of a Stop. It repeats the stop afterwards, and plugins that
// join receive it once.
func TestL15_RestartInTheMiddleOfAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		killed := newFixture(t)
		a, b := newPlugin("10-a"), newPlugin("20-b").hang(StopPodSandbox)
		killed.joined(a, b)
		killed.did("RunPodSandbox:p1")
		go killed.end("StopPodSandbox:p1")
		synctest.Wait()
		killed.Close()

		f := newFixture(t)
		f.listed.Pods = pods("p1")
		a2, b2 := newPlugin("10-a"), newPlugin("20-b")
		f.joined(a2, b2)
		require.NoError(t, f.end("StopPodSandbox:p1"))
		require.NoError(t, f.end("RemovePodSandbox:p1"))
		for _, p := range []*plugin{a2, b2} {
			assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1", p.received())
		}
	})
}

// The engine forgets the ends of objects that the runtime has dropped.
func TestEndsOfDroppedObjectsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		require.NoError(t, f.end("StopPodSandbox:p1"))
		require.NoError(t, f.end("StopContainer:p2/c1")) // noticed after p2 was removed
		f.listed.Pods = pods("p1")
		f.joined(newPlugin("10-a"))
		assert.Len(t, f.ended, 2) // the removal of p2 may still come
		time.Sleep(vanishes)
		f.joined(newPlugin("20-b"))
		assert.Len(t, f.ended, 1)
		assert.Contains(t, f.ended, "p1")
	})
}

// The list that a connection receives when it joins is large. The engine keeps nothing of it.
func TestL13_NothingOfAJoinIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept []weak.Pointer[[1 << 10]byte]
		f := newFixture(t, func(o *Options) {
			o.List = func(context.Context) (Snapshot, error) {
				value := new([1 << 10]byte)
				kept = append(kept, weak.Make(value))
				return Snapshot{Pods: []Object{{Pod: "p1", Value: value}}}, nil
			}
			o.HandOver = func(c Connection) bool { return c.Name() == "10-a" }
		})
		for _, name := range []string{"10-a", "10-a", "20-b"} {
			require.NoError(t, f.Join(t.Context(), newPlugin(name), func(context.Context, Snapshot) error { return nil }))
		}
		synctest.Wait()
		runtime.GC()
		for _, value := range kept {
			assert.Nil(t, value.Value())
		}
	})
}
