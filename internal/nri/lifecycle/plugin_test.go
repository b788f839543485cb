// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The timeouts of all tests, in the virtual time of a synctest bubble.
const (
	requestTimeout = 2 * time.Second
	syncTimeout    = 5 * time.Second
)

var errRejected = errors.New("rejected")

// A plugin is a connection that keeps what it received and answers as the test says.
type plugin struct {
	name  string
	wants func(Kind) bool
	// The failure policy, as in NRI.
	failRequest, keepConnected bool
	timeouts                   Timeouts
	// handle is what the plugin does on an event. If it is nil, it answers at once.
	handle func(context.Context, Event) (any, error)
	// synchronize is what it does on Synchronize. If it is nil, it answers at once.
	synchronize func(context.Context, Snapshot) error

	once   sync.Once
	closed chan struct{}

	mu      sync.Mutex // guards the fields below
	history []record
	current Event // the event that it handles
	since   time.Time
	faults  []string // faults that a connection must never see
}

// A record is one event that a plugin received.
type record struct {
	Event
	listed Snapshot // of Synchronize
	nth    uint64   // its number among the events sent to all plugins
}

var sent atomic.Uint64

func newPlugin(name string) *plugin {
	return &plugin{name: name, closed: make(chan struct{}), wants: all}
}

func (p *plugin) Name() string            { return p.name }
func (p *plugin) Index() string           { return p.name[:2] }
func (p *plugin) Subscribed(k Kind) bool  { return p.wants(k) }
func (p *plugin) Closed() <-chan struct{} { return p.closed }
func (p *plugin) Close()                  { p.once.Do(func() { close(p.closed) }) }

func (p *plugin) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

// enter keeps a record and checks that there is one request at a time.
func (p *plugin) enter(r record) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current.Kind != 0 {
		p.faults = append(p.faults, fmt.Sprintf("L1: received %s during %s", r, p.current))
	}
	p.current, p.since = r.Event, time.Now()
	r.nth = sent.Add(1)
	p.history = append(p.history, r)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.current = Event{}
	}
}

// transit is how much later a plugin's deadline passes than that of the engine, which sends the
// time that is left.
const transit = time.Millisecond

// Deliver implements Connection. Its handler has a context of its own, like a plugin in another
// process: that knows the deadline and nothing of the caller.
func (p *plugin) Deliver(ctx context.Context, ev Event, due time.Time, answer func(any, error)) {
	if p.isClosed() {
		answer(nil, ErrClosed)
		return
	}
	left := p.enter(record{Event: ev})
	if p.handle == nil {
		left()
		answer(nil, nil)
		return
	}
	go func() {
		own, cancel := context.WithDeadline(ctx, due.Add(transit))
		defer cancel()
		reply, err := p.handle(own, ev)
		left()
		answer(reply, err)
	}()
}

func (p *plugin) sync(ctx context.Context, s Snapshot) error {
	defer p.enter(record{Event: Event{Kind: Synchronize}, listed: s})()
	if p.synchronize == nil {
		return nil
	}
	return p.synchronize(ctx, s)
}

func (p *plugin) Timeouts() Timeouts { return p.timeouts }

func (p *plugin) Policy() Policy {
	return Policy{FailRequest: p.failRequest, KeepConnected: p.keepConnected}
}

// hang makes the plugin hang in events of the given kinds.
func (p *plugin) hang(hung ...Kind) *plugin {
	p.handle = func(ctx context.Context, ev Event) (any, error) {
		if !slices.Contains(hung, ev.Kind) {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.closed:
			return nil, ErrClosed
		}
	}
	return p
}

// breakAt makes the connection break in events of a kind.
func (p *plugin) breakAt(kind Kind) *plugin {
	p.handle = func(_ context.Context, ev Event) (any, error) {
		if ev.Kind != kind {
			return nil, nil
		}
		p.Close()
		return nil, ErrClosed
	}
	return p
}

// stall lets time pass in a handler, even if its context is done.
func (p *plugin) stall(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.closed:
	}
}

// reject makes the plugin reject events of the given kinds.
func (p *plugin) reject(rejected ...Kind) *plugin {
	p.handle = func(_ context.Context, ev Event) (any, error) {
		if slices.Contains(rejected, ev.Kind) {
			return nil, errRejected
		}
		return nil, nil
	}
	return p
}

// received returns what the plugin received, a word for each event, such as "Synchronize(p1 p2!
// p1/c1)" or "RunPodSandbox:p1". A pod with an exclamation mark was listed as stopped.
func (p *plugin) received() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	words := make([]string, len(p.history))
	for i, r := range p.history {
		words[i] = r.String()
	}
	return strings.Join(words, " ")
}

// had reports whether the plugin received an event.
func (p *plugin) had(ev Event) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.history, func(r record) bool { return r.Same(&ev) })
}

// busyWith reports whether the plugin is in its handler for an event, and still has time for it.
func (p *plugin) busyWith(ev Event) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current.Same(&ev) && time.Since(p.since) < requestTimeout
}

func (p *plugin) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.history)
}

func (r record) String() string {
	if r.Kind == Synchronize {
		var ids []string
		for _, o := range r.listed.Pods {
			id := o.Pod
			if o.Stopped {
				id += "!"
			}
			ids = append(ids, id)
		}
		for _, o := range r.listed.Containers {
			ids = append(ids, o.Pod+"/"+o.Container)
		}
		return "Synchronize(" + strings.Join(ids, " ") + ")"
	}
	return eventName(r.Event)
}
