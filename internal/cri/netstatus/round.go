// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"context"
	"time"
)

// A round runs STATUS of all networks once, or once more if the configuration
// changes meanwhile. The Monitor's lock guards its fields.
type round struct {
	done   chan struct{}      // closed when its answer is stored
	cancel context.CancelFunc // of the STATUS under way
	again  bool               // the configuration changed: the STATUS under way is void
	more   bool               // an ADD failed, maybe after the answers: another round follows
}

// begin starts a round, unless one is under way. From its caller's context it takes only the
// values, such as the span that it belongs to. It is called with m.mu held.
func (m *Monitor) begin(caller context.Context) {
	if m.round != nil || m.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(caller))
	m.round = &round{done: make(chan struct{}), cancel: cancel}
	go m.run(ctx, m.round)
}

func (m *Monitor) run(ctx context.Context, r *round) {
	for ctx != nil {
		answers := m.turn(ctx)
		if before, now, counts := m.store(r, answers); counts {
			for _, s := range answers {
				m.options.Observer.Answered(s)
			}
			if !now.same(before) {
				m.options.Observer.Moved(before, now)
			}
		}
		ctx = m.end(r)
	}
}

// turn reads the configuration and runs STATUS. It returns nothing if the Monitor
// was closed before that.
func (m *Monitor) turn(ctx context.Context) []Status {
	networks := m.networks(m.source())

	// Close waits for plugins, but not for source, which may wait for an ADD.
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.asking.Add(1)
	m.mu.Unlock()
	defer m.asking.Done()
	return m.ask(ctx, networks)
}

// store stores the answer, and reports whether it counts. It returns the last answer and the
// new one.
func (m *Monitor) store(r *round, answers []Status) (before, s Status, counts bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.again || m.closed {
		return before, s, false
	}
	before, s = m.last, worst(answers)
	s.Since = s.Asked
	if s.same(before) {
		s.Since = before.Since
	}
	m.last, m.outdated = s, false

	wait := m.options.Interval
	if s.State == TimedOut {
		m.timeouts++
		wait = backoff(wait, m.options.MaxBackoff, m.timeouts)
	} else {
		m.timeouts = 0
	}
	m.due = time.Now().Add(wait)
	return before, s, true
}

// end ends the round, or returns the context to go on with.
func (m *Monitor) end(r *round) context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.cancel()
	if r.again && !m.closed {
		r.again = false
		ctx, cancel := context.WithCancel(context.Background())
		r.cancel = cancel
		return ctx
	}
	m.round = nil
	close(r.done)
	if r.more && m.timeouts == 0 {
		m.begin(context.Background())
	}
	return nil
}

// backoff doubles wait for each timeout, up to most.
func backoff(wait, most time.Duration, timeouts int) time.Duration {
	for range timeouts {
		if wait >= most/2 {
			return most
		}
		wait *= 2
	}
	return wait
}
