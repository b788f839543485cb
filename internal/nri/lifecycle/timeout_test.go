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

func TestL16_TimeoutFollowsTheFailurePolicy(t *testing.T) {
	for _, tc := range []struct {
		name                       string
		failRequest, keepConnected bool
		fails, stays               bool
	}{
		{name: "default"},
		{name: "fail_request", failRequest: true, fails: true},
		{name: "keep_connected", keepConnected: true, stays: true},
		{name: "both", failRequest: true, keepConnected: true, fails: true, stays: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				a, b := newPlugin("10-a").hang(RunPodSandbox), newPlugin("20-b")
				a.failRequest, a.keepConnected = tc.failRequest, tc.keepConnected
				f.joined(a, b)

				start := time.Now()
				var replied []string
				err := f.Ask(t.Context(), event("RunPodSandbox:p1"), func(c Connection, _ any) error {
					replied = append(replied, c.Name())
					return nil
				})
				assert.Equal(t, requestTimeout, time.Since(start))
				if tc.fails {
					require.ErrorIs(t, err, context.DeadlineExceeded)
					assert.Equal(t, "Synchronize()", b.received())
				} else {
					require.NoError(t, err)
					assert.Equal(t, []string{"20-b"}, replied, "a plugin that failed has no reply")
				}
				synctest.Wait()
				assert.Equal(t, !tc.stays, a.isClosed())
				assert.Contains(t, f.journal.outcomes(RunPodSandbox), "10-a timed out")
				if !tc.stays {
					assert.ErrorIs(t, f.journal.reason("10-a"), context.DeadlineExceeded)
				}
			})
		})
	}
}

// If the caller's deadline passes while a plugin is busy, the plugin has not failed: it stays
// connected, whatever its policy.
func TestL16_DeadlineOfTheCallerDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a").hang(RunPodSandbox)
		f.joined(a)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := f.ask(ctx, "RunPodSandbox:p1")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		assert.False(t, a.isClosed())
		assert.Equal(t, "10-a canceled", f.journal.outcomes(RunPodSandbox))
	})
}

// expiring is a context that ends after it was read a few times.
type expiring struct {
	context.Context
	looks int
	done  chan struct{}
}

func (c *expiring) Done() <-chan struct{} { return c.done }

func (c *expiring) Err() error {
	c.looks--
	switch {
	case c.looks > 0:
		return nil
	case c.looks == 0:
		close(c.done)
	}
	return context.DeadlineExceeded
}

// A plugin rejects in the very moment in which its caller's deadline passes.
func TestL16_RejectionAtTheDeadlineOfTheCaller(t *testing.T) {
	for looks := 1; looks < 10; looks++ {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			a := newPlugin("10-a").reject(RunPodSandbox)
			f.joined(a)
			require.Error(t, f.ask(&expiring{t.Context(), looks, make(chan struct{})}, "RunPodSandbox:p1"))
			synctest.Wait()
			assert.NotContains(t, f.journal.outcomes(RunPodSandbox), "timed out")
			assert.False(t, a.isClosed())
		})
	}
}

// The request timeout begins when the event is sent, not when its caller comes.
func TestL16_WaitForOthersIsNotTheTimeOfThePlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.handle = func(ctx context.Context, _ Event) (any, error) {
			select {
			case <-time.After(requestTimeout - time.Millisecond):
				return nil, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		f.joined(a)
		done := make(chan error)
		for _, p := range []string{"p1", "p2", "p3"} {
			go func() { done <- f.ask(t.Context(), "RunPodSandbox:"+p) }()
		}
		for range 3 {
			require.NoError(t, <-done)
		}
		assert.Equal(t, "10-a answered, 10-a answered, 10-a answered", f.journal.outcomes(RunPodSandbox))
	})
}
