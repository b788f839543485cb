// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"context"
	"sync"
	"time"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/pkg/invoke"
)

// A Monitor keeps what the networks of one configuration answered last.
type Monitor struct {
	source  func() *gocni.ConfigResult
	exec    invoke.Exec
	options Options
	asking  sync.WaitGroup // rounds that have plugins under way

	mu       sync.Mutex // never held across a call of source, exec or Observer
	kept     Status     // Unknown until the first answer
	due      time.Time  // from when on Status asks again
	timeouts int        // how many rounds timed out since one that did not
	waitTill time.Time  // how long callers wait for the first answer
	round    *round     // what is under way, nil if nothing is
	outdated bool       // kept is the answer of another configuration
	closed   bool
}

// New returns a Monitor of the configuration that source returns, go-cni's
// GetConfig, whose plugins are run by exec. It does nothing until it is called.
//
// exec has to return once its context ends, and to keep [types.Error] for what
// a plugin answered.
func New(source func() *gocni.ConfigResult, exec invoke.Exec, options Options) *Monitor {
	return &Monitor{source: source, exec: exec, options: options.withDefaults()}
}

// Status returns the answer that is kept, and has the networks asked again if
// it is older than the interval. Before the first answer it waits: until it
// comes, ctx ends, or FirstWait has passed since the first call of Status. It
// returns Unknown if there is none then.
func (m *Monitor) Status(ctx context.Context) Status {
	m.mu.Lock()
	now := time.Now()
	if !now.Before(m.due) {
		m.begin()
	}
	if m.kept.State != Unknown || m.round == nil {
		defer m.mu.Unlock()
		return m.kept
	}
	if m.kept.Since.IsZero() {
		m.kept.Since = now
		m.waitTill = now.Add(m.options.FirstWait)
	}
	r, left := m.round, m.waitTill.Sub(now)
	m.mu.Unlock()
	return m.await(ctx, r, left)
}

// Kept returns the answer that is kept, and asks nobody.
func (m *Monitor) Kept() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept
}

// Outdated tells that what is kept is the answer of a configuration that has
// been replaced since.
func (m *Monitor) Outdated() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.outdated
}

// Fresh has the networks asked once more, or waits for the round that is under
// way, and returns the answer; or after bound, or when ctx ends, the one that
// was kept. It does not mind a back-off: whoever refuses a pod wants to know.
func (m *Monitor) Fresh(ctx context.Context, bound time.Duration) Status {
	m.mu.Lock()
	m.begin()
	r := m.round
	m.mu.Unlock()
	return m.await(ctx, r, bound)
}

// Changed says that the configuration is another. The networks are asked at
// once: an answer that is under way is not waited for any more, and its plugin
// is killed. Until the new answer the old one is kept.
func (m *Monitor) Changed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timeouts = 0
	m.outdated = true
	if m.round == nil {
		m.begin()
		return
	}
	m.round.again = true
	m.round.cancel()
}

// AddFailed says that an ADD failed: the networks are asked at once, or once
// more after the round that is under way, unless the last answer was a timeout
// and the back-off for it goes on.
func (m *Monitor) AddFailed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.round != nil {
		m.round.more = true
		return
	}
	if m.timeouts == 0 || !time.Now().Before(m.due) {
		m.begin()
	}
}

// Close ends what is under way, and returns when its plugins are gone. A
// Monitor that is closed keeps what it has and asks no more.
func (m *Monitor) Close() {
	m.mu.Lock()
	m.closed = true
	if m.round != nil {
		m.round.cancel()
	}
	m.mu.Unlock()
	m.asking.Wait()
}

// await waits for r, which may be nil, and returns what is kept then.
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
	return m.kept
}
