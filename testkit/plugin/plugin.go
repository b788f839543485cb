// SPDX-License-Identifier: Apache-2.0

// Package plugin is an NRI plugin for tests. It uses NRI's own stub, so that on the
// wire it is like any plugin. It records every event with its time and content, and
// answers each kind of event as it was configured to.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// Plugin is one plugin, with at most one connection at a time. It has one record for
// all its connections; each call says by which connection it came.
type Plugin struct {
	index, name string

	mu      sync.Mutex
	events  []Event // subscribed; none means all
	replies map[Event]Reply
	policy  *api.FailurePolicy
	calls   []*Call
	number  int // of the latest connection
	conn    net.Conn
	stub    stub.Stub
	closed  <-chan struct{}

	// For a plugin that acts a script.
	wrap func(net.Conn) net.Conn
	seen func(of *Call, now Call) // at the begin of a call, and at its end
}

// New makes a plugin. The runtime calls plugins in the order of index, two digits.
func New(index, name string) *Plugin {
	return &Plugin{index: index, name: name, replies: map[Event]Reply{}}
}

// Name is what the runtime knows the plugin by.
func (p *Plugin) Name() string { return p.index + "-" + p.name }

// Subscribe limits the events of the next connection. A plugin that does not
// subscribe gets all but ValidateContainerAdjustment. Configure and
// Synchronize come without asking.
func (p *Plugin) Subscribe(events ...Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = events
}

// FailurePolicy sets what the runtime is told to do about an event that is not
// answered in time, from the next connection on.
func (p *Plugin) FailurePolicy(policy *api.FailurePolicy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.policy = policy
}

// On sets the answer to an event from now on. A nil reply agrees, as do events
// that have none.
func (p *Plugin) On(event Event, reply Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies[event] = reply
}

// Connect registers with the runtime at an NRI socket, and returns when the
// plugin has answered Synchronize.
func (p *Plugin) Connect(ctx context.Context, socket string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err == nil {
		err = p.connect(ctx, conn)
	}
	if err != nil {
		return fmt.Errorf("connect NRI plugin %s: %w", p.Name(), err)
	}
	return nil
}

// connect registers by a connection. If it fails it closes that one alone: the plugin may
// have the next by then.
func (p *Plugin) connect(ctx context.Context, conn net.Conn) (err error) {
	defer func() {
		if err != nil {
			_ = conn.Close() // the error is what failed before
		}
	}()
	if p.wrap != nil {
		conn = p.wrap(conn)
	}
	h := &handler{plugin: p, synchronized: make(chan struct{}), closed: make(chan struct{})}
	options := []stub.Option{
		stub.WithConnection(conn),
		stub.WithPluginIdx(p.index),
		stub.WithPluginName(p.name),
		stub.WithLogger(silent{}),
		stub.WithOnClose(h.close),
	}
	p.mu.Lock()
	if p.policy != nil {
		options = append(options, stub.WithFailurePolicy(p.policy))
	}
	p.mu.Unlock()
	s, err := stub.New(h, options...)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.number++
	h.number, p.conn, p.stub, p.closed = p.number, conn, s, h.closed
	p.mu.Unlock()

	// The stub waits for its configuration with no deadline, and the context
	// that it is started with is that of the whole connection.
	started := make(chan error, 1)
	go func() { started <- s.Start(context.WithoutCancel(ctx)) }()
	for {
		select {
		case err := <-started:
			if err != nil {
				return err
			}
			started = nil
		case <-h.synchronized:
			return nil
		case <-h.closed:
			return early(started, errors.New("connection closed before Synchronize was answered"))
		case <-ctx.Done():
			return early(started, ctx.Err())
		}
	}
}

// farewell is how long the stub may take to say why its connection has gone.
const farewell = 100 * time.Millisecond

// early returns why a plugin was not synchronized before its connection, or the wait for
// it, has ended: a plugin that is rejected hears of both in one moment.
func early(started <-chan error, otherwise error) error {
	select {
	case err := <-started:
		if err != nil {
			return err
		}
	case <-time.After(farewell):
	}
	return otherwise
}

// Crash closes the connection at once. Without a connection it does nothing.
func (p *Plugin) Crash() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crash()
}

// crash needs p.mu.
func (p *Plugin) crash() {
	if p.conn != nil {
		_ = p.conn.Close() // the connection is closed, whatever the error
		p.conn = nil
	}
}

// UpdateContainers sends the runtime unsolicited updates, and returns those that
// failed.
func (p *Plugin) UpdateContainers(updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
	p.mu.Lock()
	s := p.stub
	p.mu.Unlock()
	if s == nil {
		return nil, fmt.Errorf("update containers: plugin %s is not connected", p.Name())
	}
	return s.UpdateContainers(updates)
}

// Timeouts are those that the runtime told in Configure: for a request, and for a
// registration. They are zero before the first connection.
func (p *Plugin) Timeouts() (request, registration time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stub == nil {
		return 0, 0
	}
	return p.stub.RequestTimeout(), p.stub.RegistrationTimeout()
}

// NRIVersion is that of the runtime's NRI, as it told in Configure; of a runtime that does not
// tell, as the stub infers it from the version of the runtime. It is empty before the first
// connection.
func (p *Plugin) NRIVersion() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stub == nil {
		return ""
	}
	return p.stub.RuntimeNRIVersion()
}

// Closed is closed when the current connection is closed, by whichever side.
// It is nil before the first one.
func (p *Plugin) Closed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Calls returns the record so far, including what is not answered yet.
func (p *Plugin) Calls() Calls {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := make(Calls, 0, len(p.calls))
	for _, call := range p.calls {
		calls = append(calls, *call)
	}
	return calls
}

// answer records a call and replies to it. The caller sends what the reply sets in
// the call.
func (p *Plugin) answer(ctx context.Context, call *Call) error {
	call.plugin, call.Start = p, time.Now()
	recorded := *call
	p.mu.Lock()
	p.calls = append(p.calls, &recorded)
	reply := p.replies[call.Event]
	p.mu.Unlock()
	if p.seen != nil {
		p.seen(&recorded, recorded)
	}

	if reply != nil {
		call.Err = reply(ctx, call)
	}
	call.Abandoned, call.End = ctx.Err(), time.Now()
	p.mu.Lock()
	recorded = *call
	p.mu.Unlock()
	if p.seen != nil {
		p.seen(&recorded, *call)
	}
	return call.Err
}
