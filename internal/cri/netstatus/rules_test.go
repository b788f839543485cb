// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/containernetworking/cni/pkg/types"
	"github.com/stretchr/testify/assert"
)

var (
	down = types.NewError(50, "agent is down", "")
	lost = types.NewError(51, "no route", "")
)

// A runtime starts, and the plugin is slow to answer.
func TestN1_FirstAnswerThatTakesLongIsNoFailure(t *testing.T) {
	at(t, map[string]plugin{"a": takes(4*time.Second, nil)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		assert.Equal(t, Unknown, m.Current().State, "it does not wait")
		assert.Equal(t, 4*time.Second, took(func() { assert.Equal(t, OK, m.Status(t.Context()).State) }))
		pass(0)
		assert.Equal(t, []string{"Unknown OK "}, n.transitions())
	})
	at(t, map[string]plugin{"a": hangs}, Options{}, func(t *testing.T, _ *node, m *Monitor) {
		assert.Equal(t, 5*time.Second, took(func() { assert.Equal(t, TimedOut, m.Status(t.Context()).State) }))
	})
	at(t, map[string]plugin{"a": hangs}, Options{Timeout: time.Hour}, func(t *testing.T, _ *node, m *Monitor) {
		assert.Equal(t, time.Minute, took(func() { assert.Equal(t, Unknown, m.Status(t.Context()).State) }))
	})
}

func TestN1_OnlyTheFirstAnswerIsWaitedFor(t *testing.T) {
	at(t, map[string]plugin{"a": hangs}, Options{FirstWait: time.Second}, func(t *testing.T, n *node, m *Monitor) {
		assert.Equal(t, time.Second, took(func() { assert.Equal(t, Unknown, m.Status(t.Context()).State) }))
		assert.Zero(t, took(func() {
			s := m.Status(t.Context())
			assert.Equal(t, Unknown, s.State)
			assert.EqualError(t, s.Err(), "network has not answered STATUS yet, since 2000-01-01T00:00:00Z: unavailable")
		}))
		pass(4 * time.Second)
		assert.Zero(t, took(func() { assert.Equal(t, TimedOut, m.Status(t.Context()).State) }))
		assert.Len(t, n.times("a"), 1)
	})
}

// Many callers during a hang wait no longer than one does.
func TestManyCallsDuringAHangTakeNoTime(t *testing.T) {
	at(t, map[string]plugin{"a": hangs}, Options{FirstWait: time.Second}, func(t *testing.T, n *node, m *Monitor) {
		m.Status(t.Context())
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				assert.Zero(t, took(func() { assert.Equal(t, Unknown, m.Status(t.Context()).State) }))
			})
		}
		all.Wait()
		assert.Len(t, n.times("a"), 1)
	})
}

func TestN1_CallerThatCancelsWaitsNoLonger(t *testing.T) {
	at(t, map[string]plugin{"a": hangs}, Options{}, func(t *testing.T, _ *node, m *Monitor) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		assert.Equal(t, time.Millisecond, took(func() { m.Status(ctx) }))
	})
}

func TestN1_HangLaterOnIsNotWaitedFor(t *testing.T) {
	at(t, map[string]plugin{"a": says(nil)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		assert.Equal(t, OK, m.Status(t.Context()).State)
		n.set("a", hangs)
		pass(10 * time.Second)
		assert.Zero(t, took(func() { assert.Equal(t, OK, m.Current().State) }), "it is asked now")
		assert.Zero(t, took(func() { assert.Equal(t, OK, m.Status(t.Context()).State) }))
		pass(5 * time.Second)
		assert.Equal(t, TimedOut, m.Status(t.Context()).State)
	})
}

func TestAskedWhenOlderThanInterval(t *testing.T) {
	at(t, map[string]plugin{"a": takes(time.Second, nil)}, Options{FirstWait: 2 * time.Second}, func(t *testing.T, n *node, m *Monitor) {
		for range 24 {
			s := m.Status(t.Context())
			assert.Equal(t, OK, s.State)
			assert.Equal(t, time.Second, s.Took)
			assert.Equal(t, n.began, s.Since)
			pass(time.Second)
		}
		// Answered after 1 s, 12 s and 23 s.
		assert.Equal(t, []time.Duration{0, 11 * time.Second, 22 * time.Second}, n.times("a"))
	})
}

func TestNoPollingWithoutCallers(t *testing.T) {
	at(t, map[string]plugin{"a": says(nil)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		m.Status(t.Context())
		pass(time.Hour)
		assert.Len(t, n.times("a"), 1)
	})
}

func TestSinceFollowsTheState(t *testing.T) {
	at(t, map[string]plugin{"a": says(nil)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		for _, step := range []struct {
			err   error
			state State
			since time.Duration
		}{
			{nil, OK, 0},
			{down, NotAvailable, 10 * time.Second},
			{types.NewError(50, "agent is still down", ""), NotAvailable, 10 * time.Second},
			{lost, Degraded, 30 * time.Second},
			{down, NotAvailable, 40 * time.Second},
			{nil, OK, 50 * time.Second},
			{nil, OK, 50 * time.Second},
		} {
			n.set("a", func(context.Context) error { return step.err })
			s := m.Fresh(t.Context(), time.Second)
			assert.Equal(t, step.state, s.State)
			assert.Equal(t, step.since, s.Since.Sub(n.began))
			assert.Equal(t, time.Now(), s.Asked)
			pass(10 * time.Second)
		}
	})
}

func TestL17_EachTransitionIsLoggedOnce(t *testing.T) {
	at(t, map[string]plugin{"a": says(nil)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		for _, err := range []error{nil, nil, down, down, types.NewError(50, "agent is still down", ""), lost, nil, nil} {
			n.set("a", says(err))
			m.Fresh(t.Context(), time.Second)
			pass(10 * time.Second)
		}
		assert.Equal(t, []string{"Unknown OK ", "OK NotAvailable a", "NotAvailable Degraded a", "Degraded OK "}, n.transitions())
	})
}

func TestBackOffWhileItHangs(t *testing.T) {
	seconds := func(all ...int) (times []time.Duration) {
		for _, s := range all {
			times = append(times, time.Duration(s)*time.Second)
		}
		return times
	}
	at(t, map[string]plugin{"a": hangs}, Options{FirstWait: -1}, func(t *testing.T, n *node, m *Monitor) {
		for range 205 {
			m.Status(t.Context())
			m.AddFailed()
			pass(time.Second)
		}
		// Each hang takes 5 s, and the pauses are 20 s, 40 s and 60 s.
		assert.Equal(t, seconds(0, 25, 70, 135, 200), n.times("a"))

		n.set("a", says(nil))
		pass(60 * time.Second)
		m.Status(t.Context())
		pass(10 * time.Second)
		m.Status(t.Context())
		pass(0)
		assert.Equal(t, seconds(0, 25, 70, 135, 200, 265, 275), n.times("a"), "an answer ends it")
	})
}

func TestN2_FreshAsksOnceMore(t *testing.T) {
	at(t, map[string]plugin{"a": hangs}, Options{FirstWait: -1}, func(t *testing.T, n *node, m *Monitor) {
		m.Status(t.Context())
		pass(6 * time.Second)
		assert.Equal(t, TimedOut, m.Status(t.Context()).State)

		n.set("a", takes(time.Second, nil))
		assert.Equal(t, time.Second, took(func() {
			assert.Equal(t, OK, m.Fresh(t.Context(), 2*time.Second).State, "though the back-off goes on")
		}))
	})
}

func TestN2_FreshKeepsToItsBound(t *testing.T) {
	at(t, map[string]plugin{"a": says(down)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		m.Status(t.Context())
		n.set("a", hangs)
		assert.Equal(t, time.Second, took(func() {
			assert.Equal(t, NotAvailable, m.Fresh(t.Context(), time.Second).State)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Equal(t, time.Second, took(func() {
			assert.Equal(t, NotAvailable, m.Fresh(ctx, time.Minute).State)
		}))
		assert.Equal(t, 3*time.Second, took(func() {
			assert.Equal(t, TimedOut, m.Fresh(t.Context(), time.Minute).State)
		}), "callers share the round under way")
		assert.Len(t, n.times("a"), 2)
	})
}

func TestChangedAsksAtOnce(t *testing.T) {
	at(t, map[string]plugin{"a": says(down), "b": takes(time.Second, nil)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		n.configure("1.1.0", "a")
		m.Changed()
		pass(0)
		assert.Equal(t, NotAvailable, m.Status(t.Context()).State)
		n.configure("1.1.0", "b")
		m.Changed()
		assert.True(t, m.Outdated())
		assert.Equal(t, NotAvailable, m.Status(t.Context()).State, "until there is another answer")
		pass(time.Second)
		assert.False(t, m.Outdated())
		s := m.Status(t.Context())
		assert.Equal(t, OK, s.State)
		assert.Equal(t, "b", s.Network)
	})
}

func TestChangedVoidsTheRoundUnderWay(t *testing.T) {
	at(t, map[string]plugin{"a": hangs, "b": says(nil)}, Options{FirstWait: time.Minute}, func(t *testing.T, n *node, m *Monitor) {
		n.configure("1.1.0", "a")
		go func() {
			pass(time.Second)
			n.configure("1.1.0", "b")
			m.Changed()
		}()
		assert.Equal(t, time.Second, took(func() {
			s := m.Status(t.Context())
			assert.Equal(t, OK, s.State, "a caller that waited for the old answer gets the new one")
			assert.Equal(t, "b", s.Network)
		}))
		pass(time.Minute)
		assert.Len(t, n.answers(), 1, "a STATUS that was canceled is no answer")
	})
}

func TestChangedAgainAndAgain(t *testing.T) {
	at(t, map[string]plugin{"a": takes(time.Second, nil)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		for range 10 {
			m.Changed()
			m.Changed()
			pass(100 * time.Millisecond)
		}
		assert.Empty(t, n.answers())
		pass(time.Second)
		assert.Len(t, n.answers(), 1)
		assert.Equal(t, OK, m.Status(t.Context()).State)
	})
}

func TestChangedEndsTheBackOff(t *testing.T) {
	at(t, map[string]plugin{"a": hangs}, Options{FirstWait: -1}, func(t *testing.T, n *node, m *Monitor) {
		m.Status(t.Context())
		pass(6 * time.Second)
		m.Changed()
		pass(0)
		assert.Equal(t, []time.Duration{0, 6 * time.Second}, n.times("a"))
	})
}

func TestAddFailedAsksAtOnce(t *testing.T) {
	at(t, map[string]plugin{"a": says(nil)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		assert.Equal(t, OK, m.Status(t.Context()).State)
		n.set("a", says(down))
		m.AddFailed()
		pass(0)
		assert.Equal(t, NotAvailable, m.Status(t.Context()).State)
	})
}

// The networks may have answered before the ADD failed.
func TestAddFailedDuringARoundAsksOnceMore(t *testing.T) {
	at(t, map[string]plugin{"a": takes(2*time.Second, nil)}, Options{FirstWait: -1}, func(t *testing.T, n *node, m *Monitor) {
		m.Status(t.Context())
		pass(time.Second)
		n.set("a", says(down))
		m.AddFailed()
		m.AddFailed()
		pass(time.Second)
		assert.Equal(t, []time.Duration{0, 2 * time.Second}, n.times("a"))
		assert.Equal(t, NotAvailable, m.Last().State)
	})
}

// TestN4_LockedConfigurationBlocksNothing stands for an ADD that hangs and a
// reload that waits for it, which keep go-cni's GetConfig waiting.
func TestN4_LockedConfigurationBlocksNothing(t *testing.T) {
	at(t, map[string]plugin{"a": says(nil)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		m.Status(t.Context())
		n.mu.Lock()
		n.reload = make(chan struct{})
		n.mu.Unlock()
		pass(time.Minute)
		assert.Zero(t, took(func() {
			assert.Equal(t, OK, m.Status(t.Context()).State)
			m.AddFailed()
			m.Changed()
			assert.Equal(t, OK, m.Status(t.Context()).State)
			m.Close()
		}))
		close(n.reload)
		pass(0)
		assert.Len(t, n.times("a"), 1)
	})
}

func TestCloseEndsTheRoundUnderWay(t *testing.T) {
	at(t, map[string]plugin{"a": says(down)}, Options{}, func(t *testing.T, n *node, m *Monitor) {
		m.Status(t.Context())
		n.set("a", hangs)
		pass(time.Minute)
		m.Status(t.Context())
		pass(0)
		assert.Zero(t, took(m.Close))
		assert.False(t, n.busy("a"))
		m.Changed()
		m.AddFailed()
		assert.Equal(t, NotAvailable, m.Fresh(t.Context(), time.Minute).State)
		assert.Equal(t, NotAvailable, m.Status(t.Context()).State)
		m.Close()
		assert.Len(t, n.times("a"), 2)
		assert.Len(t, n.answers(), 1)
	})
}
