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

// noticed is a plugin that keeps how much time it has for each event, and its share of the caller's.
type noticed struct {
	*plugin
	has, shares []time.Duration
}

func (p *noticed) Deliver(ctx context.Context, ev Event, due time.Time, answer func(any, error)) {
	p.has, p.shares = append(p.has, time.Until(due)), append(p.shares, Share(ctx))
	p.plugin.Deliver(ctx, ev, due, answer)
}

func TestL16_PluginMayHaveATimeoutOfItsOwn(t *testing.T) {
	for _, own := range []time.Duration{requestTimeout / 2, 10 * requestTimeout} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			slow := &noticed{plugin: newPlugin("10-slow")}
			slow.timeouts = Timeouts{Request: own}
			slow.handle = func(context.Context, Event) (any, error) { slow.stall(own - time.Millisecond); return nil, nil }
			require.NoError(t, f.Join(t.Context(), slow, slow.sync))
			f.did("RunPodSandbox:p1")
			slow.hang(StartContainer, CreateContainer)
			start := time.Now()
			f.did("CreateContainer:p1/c1")
			assert.Equal(t, own, time.Since(start))
			assert.Equal(t, "10-slow timed out", f.journal.outcomes(CreateContainer))
			assert.Equal(t, []time.Duration{own, own}, slow.has)
		})
	}
}

// The bound of a teardown is the same for all plugins, however long one of them may take.
func TestL9_LongTimeoutOfOnePluginLengthensNoTeardown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		slow := newPlugin("10-slow")
		slow.timeouts = Timeouts{Request: time.Minute}
		f.joined(slow, newPlugin("20-b"))
		f.did("RunPodSandbox:p1")
		slow.handle = func(context.Context, Event) (any, error) { slow.stall(30 * time.Second); return nil, nil }
		start := time.Now()
		require.NoError(t, f.end("StopPodSandbox:p1"))
		assert.Equal(t, requestTimeout, time.Since(start))
		time.Sleep(time.Minute)
		assert.False(t, slow.isClosed(), "it answered within its own timeout")
		assert.Equal(t, "10-slow answered late, 20-b answered", f.journal.outcomes(StopPodSandbox))
	})
}

func TestL13_PluginMayHaveASyncTimeoutOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		slow := newPlugin("10-slow")
		slow.timeouts = Timeouts{Sync: time.Minute}
		slow.synchronize = func(ctx context.Context, _ Snapshot) error { return pause(ctx, 50*time.Second) }
		joined := make(chan error, 1)
		go func() { joined <- f.join(slow) }()
		synctest.Wait()
		start := time.Now()
		f.did("RunPodSandbox:p1")
		assert.Equal(t, syncTimeout, time.Since(start), "others wait for it like for any plugin")
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", slow.received())

		hasty := newPlugin("20-hasty")
		hasty.timeouts = Timeouts{Sync: time.Second}
		hasty.synchronize = slow.synchronize
		start = time.Now()
		require.ErrorIs(t, f.join(hasty), context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

// A plugin receives its caller's deadline. If that cuts its request short, its own timeout has
// not passed, so it stays connected.
func TestL16_PluginReceivesTheDeadlineOfItsCaller(t *testing.T) {
	for _, tc := range []struct {
		event    string
		patience time.Duration
		has      time.Duration
	}{
		{"RunPodSandbox:p1", 2 * time.Second, 1500 * time.Millisecond}, // a quarter is for the roll back
		{"RunPodSandbox:p1", time.Minute, 10 * time.Second},            // which takes no longer than a stop and a removal
		{"RunPodSandbox:p1", 12 * time.Second, 9 * time.Second},
		{"UpdatePodSandbox:p0", 2 * time.Second, 2 * time.Second}, // nothing to roll back
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			p := &noticed{plugin: newPlugin("10-a")}
			p.timeouts = Timeouts{Request: 10 * time.Second}
			require.NoError(t, f.Join(t.Context(), p, p.sync))
			f.did("RunPodSandbox:p0")
			p.has = nil
			p.hang(RunPodSandbox, UpdatePodSandbox)
			p.keepConnected = true
			ctx, cancel := context.WithTimeout(t.Context(), tc.patience)
			defer cancel()
			start := time.Now()
			err := f.ask(ctx, tc.event)
			assert.Equal(t, tc.has, time.Since(start))
			assert.Equal(t, []time.Duration{tc.has}, p.has)
			if tc.has == p.timeouts.Request {
				require.NoError(t, err, "its own timeout passed, and its policy is to go on")
				return
			}
			require.ErrorIs(t, err, context.DeadlineExceeded)
			synctest.Wait()
			time.Sleep(time.Second)
			assert.False(t, p.isClosed())
			assert.NotContains(t, f.journal.outcomes(event(tc.event).Kind), "timed out")
			require.NoError(t, f.ask(t.Context(), "PostUpdatePodSandbox:p0"), "it has answered")
		})
	}
}
