// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// comesBack joins a plugin, and another one a moment after each end of its connection, until ctx
// ends.
func comesBack(ctx context.Context, f *fixture, newOne func() *plugin) {
	for ctx.Err() == nil {
		p := newOne()
		if f.join(p) == nil {
			select {
			case <-p.closed:
			case <-ctx.Done():
			}
		}
		_ = pause(ctx, time.Millisecond)
	}
}

// runs creates a pod with the timeout of a kubelet, and returns how long that takes.
func (f *fixture) runs(pod string) time.Duration {
	f.t.Helper()
	patience, cancel := context.WithTimeout(f.t.Context(), 4*time.Minute)
	defer cancel()
	start := time.Now()
	require.NoError(f.t, f.ask(patience, "RunPodSandbox:"+pod))
	return time.Since(start)
}

// keepsComing joins one plugin after the other, with some time between them, until ctx ends.
func keepsComing(ctx context.Context, f *fixture, every time.Duration, newOne func() *plugin) {
	for ctx.Err() == nil {
		_ = f.join(newOne())
		_ = pause(ctx, every)
	}
}

// Plugins that answer Synchronize, hang in their first event and come back cost a pod one timeout
// each. By turns, one of them is always a connection that the pod has not asked.
func TestL22_PluginsThatHangByTurnsCostOneTimeoutEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		ctx, stay := context.WithCancel(t.Context())
		var back sync.WaitGroup
		for _, name := range []string{"10-a", "20-b"} {
			back.Go(func() {
				comesBack(ctx, f, func() *plugin { return newPlugin(name).hang(RunPodSandbox) })
			})
		}
		synctest.Wait()
		for i := range 3 {
			assert.Equal(t, 2*requestTimeout, f.runs(fmt.Sprintf("p%d", i)))
		}
		stay()
		back.Wait()
	})
}

// A plugin that hangs each time costs the pods of that time one timeout at each return: only its
// answer shows whether its restart has cured it.
func TestL22_PluginThatHangsAgainCostsOneTimeoutForEachReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for i := range 3 {
			f.joined(newPlugin("10-a").hang(RunPodSandbox))
			start := time.Now()
			done := make(chan error)
			const pods = 8
			for p := range pods {
				go func() { done <- f.ask(t.Context(), fmt.Sprintf("RunPodSandbox:p%d-%d", i, p)) }()
			}
			for range pods {
				require.NoError(t, <-done)
			}
			assert.Equal(t, requestTimeout, time.Since(start), "for all pods together")
		}
	})
}

// A plugin was asked for a container, disconnected, and comes back before the other plugins are
// asked. It receives the creation late: its answer would be a second one.
func TestL2_PluginThatReturnsDuringACreationIsDeliveredLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		first, next := newPlugin("10-a"), newPlugin("10-a")
		next.reject(CreateContainer)
		slow := newPlugin("20-slow")
		slow.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == CreateContainer {
				first.Close()
				synctest.Wait()
				f.listed.Pods = pods("p1")
				f.joined(next)
			}
			return nil, nil
		}
		f.joined(first, slow)
		f.did("RunPodSandbox:p1")
		require.NoError(t, f.ask(t.Context(), "CreateContainer:p1/c1"), "it has approved before")
		assert.Equal(t, "Synchronize(p1)", next.received(), "the runtime may fail to make it")
		f.did("PostCreateContainer:p1/c1")
		assert.Equal(t, "Synchronize(p1) CreateContainer:p1/c1 PostCreateContainer:p1/c1", next.received())
		assert.Equal(t, "10-a answered, 10-a rejected late, 10-a skipped, 20-slow answered", f.journal.outcomes(CreateContainer))
	})
}

// Two plugins of one name that are both connected are both asked.
func TestL2_TwoOfOneNameAreBothAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.joined(newPlugin("10-a"), newPlugin("10-a"), newPlugin("10-a").reject(RunPodSandbox))
		require.ErrorIs(t, f.ask(t.Context(), "RunPodSandbox:p1"), errRejected)
	})
}

// Successors that each hang in their first event, one after the other, delay a pod no longer than
// the first and its successor do. Later successors receive the pod late.
func TestL19_SuccessorsThatHangBlockNothingByTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		f.joined(newPlugin("10-a").hang(RunPodSandbox))
		f.listed = Snapshot{}
		ctx, stay := context.WithCancel(t.Context())
		var surge sync.WaitGroup
		for range 6 {
			surge.Go(func() {
				keepsComing(ctx, f, requestTimeout/2, func() *plugin { return newPlugin("10-a").hang(RunPodSandbox) })
			})
		}
		assert.LessOrEqual(t, f.runs("p1"), 4*requestTimeout)
		stay()
		f.Close()
		surge.Wait()
	})
}

// A plugin that hangs in Synchronize delays no second creation, however many other names have
// failed.
func TestL22_ManyNamesThatFailedHideNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for i := range names {
			p := newPlugin(fmt.Sprintf("99-x%d", i))
			p.synchronize = func(context.Context, Snapshot) error { return errRejected }
			require.Error(t, f.join(p))
		}
		var waited []time.Duration
		for i := range 4 {
			p := newPlugin("10-a")
			p.untilAllowed()
			joined := f.comes(p)
			start := time.Now()
			f.did(fmt.Sprintf("RunPodSandbox:p%d", i))
			waited = append(waited, time.Since(start))
			<-joined
		}
		assert.Zero(t, waited[1]+waited[2]+waited[3], "its return delays no pod")
	})
}
