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

func TestL28_ShareOfAPlugin(t *testing.T) {
	for _, tc := range []struct {
		left, timeout time.Duration
		behind        []time.Duration
		share         time.Duration
	}{
		{30, 60, nil, 60}, // it is the last one
		{30, 60, []time.Duration{60, 60}, 10},
		{30, 60, []time.Duration{0, 60, 0, 60, 0}, 10}, // the others are not asked
		{30, 60, []time.Duration{2, 2}, 26},            // they need no more
		{30, 2, []time.Duration{60, 60}, 2},            // it needs no more
		{30, 60, []time.Duration{8, 60}, 11},           // the two long ones have the same
		{30, 10, []time.Duration{10, 10}, 10},          // there is enough
		{0, 10, []time.Duration{10}, 0},                // nothing is left
		{40, 20, []time.Duration{5, 60, 4, 1}, 15},     // 10 are for the short ones
	} {
		before := append([]time.Duration(nil), tc.behind...)
		assert.Equal(t, tc.share, share(tc.left, tc.timeout, tc.behind), "%+v", tc)
		assert.Equal(t, before, tc.behind)
	}
}

// joinedNoticed connects a plugin that may take a minute, or that has the timeout of all.
func (f *fixture) joinedNoticed(name string, takes, timeout time.Duration) *noticed {
	f.t.Helper()
	p := &noticed{plugin: newPlugin(name)}
	p.timeouts = Timeouts{Request: timeout}
	p.handle = func(context.Context, Event) (any, error) { p.stall(takes); return nil, nil }
	require.NoError(f.t, f.Join(f.t.Context(), p, p.sync))
	return p
}

// What a plugin does not need of its share goes to those behind it. Its deadline stays as it is, and
// one that takes more than its share goes on.
func TestL28_PluginsLearnTheirShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.listed.Pods = pods("p0")
		overdue, deaf := newPlugin("60-overdue"), newPlugin("50-deaf")
		overdue.keepConnected = true
		overdue.handle = func(context.Context, Event) (any, error) { overdue.stall(time.Minute); return nil, nil }
		deaf.wants = func(k Kind) bool { return k != RunPodSandbox }
		f.joined(overdue, deaf)
		f.did("UpdatePodSandbox:p0")
		plugins := []*noticed{
			f.joinedNoticed("10-a", time.Second, time.Minute),
			f.joinedNoticed("20-greedy", 9*time.Second, time.Minute),
			f.joinedNoticed("30-c", 0, time.Minute),
			f.joinedNoticed("40-short", 0, 0),
		}
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Second) // 4 s are for the roll-back
		defer cancel()
		require.NoError(t, f.ask(ctx, "RunPodSandbox:p1"))
		var shares, has []time.Duration
		for _, p := range plugins {
			shares, has = append(shares, p.shares...), append(has, p.has...)
		}
		assert.Equal(t, []time.Duration{6 * time.Second, 8500 * time.Millisecond, 8 * time.Second, 0}, shares)
		assert.Equal(t, []time.Duration{20 * time.Second, 19 * time.Second, 10 * time.Second, requestTimeout}, has)
	})
}

// The share is of the time that is left when the plugin's turn has come.
func TestL28_ShareIsOfTheTimeAfterTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.listed.Pods = pods("p0")
		busy := f.joinedNoticed("10-busy", 6*time.Second, time.Minute)
		last := f.joinedNoticed("20-last", 0, time.Minute)
		go func() { _ = f.ask(t.Context(), "UpdatePodSandbox:p0") }()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Second) // 4 s are for the roll-back
		defer cancel()
		require.NoError(t, f.ask(ctx, "RunPodSandbox:p1"))
		assert.Equal(t, []time.Duration{0, 7500 * time.Millisecond}, busy.shares)
		assert.Equal(t, []time.Duration{0, 0}, last.shares, "it has all that is left")
	})
}

// If the time is enough for all, or has no end, nothing is shared. This runs in real time, in which
// every instant differs.
func TestL28_EnoughTimeIsNotShared(t *testing.T) {
	for _, has := range []time.Duration{time.Hour, 0} {
		f := newFixture(t)
		a, b := f.joinedNoticed("10-a", 0, time.Minute), f.joinedNoticed("20-b", 0, 0)
		b.handle = func(context.Context, Event) (any, error) { return nil, errRejected }
		f.joined(newPlugin("30-c"))
		ctx, cancel := context.WithCancel(t.Context())
		if has > 0 {
			ctx, cancel = context.WithTimeout(t.Context(), has)
		}
		err := f.ask(ctx, "RunPodSandbox:p1")
		cancel()
		require.ErrorIs(t, err, errRejected)
		assert.NotErrorAs(t, err, new(*OutOfTime))
		assert.Equal(t, []time.Duration{0}, a.shares)
		assert.Equal(t, []time.Duration{0}, b.shares)
	}
}
