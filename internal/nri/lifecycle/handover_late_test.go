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

// The first was asked for a container, and other plugins still are. The successor receives the
// creation late, and does not wait for it.
func TestL19_CreationUnderWayIsDeliveredLate(t *testing.T) {
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
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1", first.received())
		assert.Equal(t, "Synchronize(p1) UpdatePodSandbox:p1 CreateContainer:p1/c1 PostCreateContainer:p1/c1", next.received())
	})
}

// The first has approved a pod, and other plugins are still asked. The successor receives the pod
// in Synchronize alone: it is not asked for what the first approved.
func TestL19_PodUnderWayIsDeliveredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		f.joined(first, newPlugin("20-b").takes(time.Second, RunPodSandbox))
		run := f.asks("RunPodSandbox:p1")
		f.listed = Snapshot{Pods: []Object{{Pod: "p1", Creating: true}}}
		require.NoError(t, <-f.comes(next))
		require.NoError(t, <-run)
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", first.received())
		assert.Equal(t, "Synchronize(p1)", next.received())
	})
}

// The successor receives late what the first has not answered.
func TestL19_PodMissedByTheFirstIsDeliveredLate(t *testing.T) {
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
		assert.Equal(t, "Synchronize(p1) RunPodSandbox:p1", next.received())
	})
}

// A successor does not wait for a creation once the first has disconnected: a plugin that has
// crashed can come back while another one is asked (L13).
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
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1", next.received())
	})
}

// This holds however long the creation takes. If it fails, the successor receives its end.
func TestL19_CreationThatTakesLongIsDeliveredLate(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newHanding(t)
			first, next, other := newPlugin("10-a"), newPlugin("10-a"), newPlugin("20-b")
			other.timeouts.Request = time.Minute
			other.takes(10*time.Second, CreateContainer)
			f.joined(first, other)
			f.did("RunPodSandbox:p1")
			f.listed = Snapshot{Pods: pods("p1")}
			ctx, cancel := context.WithCancel(t.Context())
			create := make(chan error, 1)
			go func() { create <- f.ask(ctx, "CreateContainer:p1/c1") }()
			synctest.Wait()
			began := time.Now()
			require.NoError(t, <-f.comes(next))
			assert.Zero(t, time.Since(began))
			if fails {
				cancel()
				require.Error(t, <-create)
				f.ends("StopContainer:p1/c1", "RemoveContainer:p1/c1")
				assert.Equal(t, "Synchronize(p1) StopContainer:p1/c1 RemoveContainer:p1/c1", next.received(), "the name knows it")
			} else {
				require.NoError(t, <-create)
				f.did("PostCreateContainer:p1/c1")
				assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1", next.received())
			}
			cancel()
		})
	}
}

// A successor that takes longer than one request receives after its Synchronize the events that
// the first received meanwhile.
func TestL19_SlowSuccessorReceivesMissedEvents(t *testing.T) {
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
		assert.Equal(t, "Synchronize(p1 p2 p5 p2/c2) RunPodSandbox:p3 CreateContainer:p3/c3 StopContainer:p2/c2 StopPodSandbox:p1 RemovePodSandbox:p1", next.received())
		assert.True(t, first.isClosed())
		f.end("StopContainer:p3/c3", "StopPodSandbox:p3", "RemoveContainer:p2/c2")
		assert.Contains(t, next.received(), "StopContainer:p3/c3 StopPodSandbox:p3 RemoveContainer:p2/c2")
	})
}
