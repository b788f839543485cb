// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"context"
	"sync"
	"time"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/pkg/invoke"
)

// A Monitor keeps the last answer of the networks of one configuration.
type Monitor struct {
	source  func() *gocni.ConfigResult
	exec    invoke.Exec
	options Options
	asking  sync.WaitGroup // rounds that are running plugins

	mu       sync.Mutex // never held across a call of source, exec or Observer
	last     Status     // Unknown until the first answer
	due      time.Time  // when Status starts the next round
	timeouts int        // rounds in a row that timed out
	waitTill time.Time  // how long callers wait for the first answer
	round    *round     // under way, or nil
	outdated bool       // last is the answer of another configuration
	closed   bool
}

// New returns a Monitor of the configuration that source returns, which is go-cni's GetConfig.
// exec runs the plugins. The Monitor does nothing until it is called.
//
// exec must return once its context ends, and may return a [types.Error] only if a plugin
// answered it.
func New(source func() *gocni.ConfigResult, exec invoke.Exec, options Options) *Monitor {
	return &Monitor{source: source, exec: exec, options: options.withDefaults()}
}

// Status returns the last answer, and starts a round if that is older than the interval. If
// there is no answer yet, it waits for the first one until ctx ends or FirstWait has passed since
// the first call of Status, and then returns Unknown.
func (m *Monitor) Status(ctx context.Context) Status {
	m.mu.Lock()
	now := time.Now()
	if !now.Before(m.due) {
		m.begin(ctx)
	}
	if m.last.State != Unknown || m.round == nil {
		defer m.mu.Unlock()
		return m.last
	}
	if m.last.Since.IsZero() {
		m.last.Since = now
		m.waitTill = now.Add(m.options.FirstWait)
	}
	r, left := m.round, m.waitTill.Sub(now)
	m.mu.Unlock()
	return m.await(ctx, r, left)
}

// Current returns the last answer, and starts a round if that is older than the
// interval. It does not wait.
func (m *Monitor) Current() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !time.Now().Before(m.due) {
		m.begin(context.Background())
	}
	return m.last
}

// Last returns the last answer, and starts nothing.
func (m *Monitor) Last() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// Outdated reports whether the last answer is of a configuration that was replaced since.
func (m *Monitor) Outdated() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.outdated
}

// Fresh starts a round, or joins the one under way, and returns its answer. After bound, or when
// ctx ends, it returns the last answer. It ignores a back-off, since a pod may be rejected for
// the answer.
func (m *Monitor) Fresh(ctx context.Context, bound time.Duration) Status {
	m.mu.Lock()
	m.begin(ctx)
	r := m.round
	m.mu.Unlock()
	return m.await(ctx, r, bound)
}

// Changed says that the configuration changed. STATUS runs at once; plugins that are
// still running for the old configuration are killed. Until the new answer the old
// one is kept.
func (m *Monitor) Changed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timeouts = 0
	m.outdated = true
	if m.round == nil {
		m.begin(context.Background())
		return
	}
	m.round.again = true
	m.round.cancel()
}

// AddFailed says that an ADD failed: a round starts at once, or after the one under
// way, except during the back-off after a timeout.
func (m *Monitor) AddFailed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.round != nil {
		m.round.more = true
		return
	}
	if m.timeouts == 0 || !time.Now().Before(m.due) {
		m.begin(context.Background())
	}
}

// Close stops the round under way, and returns when its plugins are gone. A closed
// Monitor keeps the last answer and starts nothing.
func (m *Monitor) Close() {
	m.mu.Lock()
	m.closed = true
	if m.round != nil {
		m.round.cancel()
	}
	m.mu.Unlock()
	m.asking.Wait()
}

// await waits for r, which may be nil, and returns the last answer.
func (m *Monitor) await(ctx context.Context, r *round, bound time.Duration) Status {
	if r != nil && bound > 0 {
		timer := time.NewTimer(bound)
		defer timer.Stop()
		select {
		case <-r.done:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}
