// SPDX-License-Identifier: Apache-2.0

// Package plugin is an NRI plugin for tests. It uses NRI's own stub, so that on the wire it is like
// any plugin. It records every event with its time and content, and answers each kind of event as
// configured.
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

	"github.com/hookline-nri/hookline/plugin/podnetwork"
)

// Plugin is one plugin, with at most one connection at a time. It has one record for all its
// connections; each call has the number of its connection.
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
	network *podnetwork.Status // that it reports, nil if none

	// For a plugin that acts a script.
	wrap func(net.Conn) net.Conn
	seen func(of *Call, now Call) // called at the start of a call, and at its end
}

// New makes a plugin. The runtime calls plugins in the order of index, two digits.
func New(index, name string) *Plugin {
	return &Plugin{index: index, name: name, replies: map[Event]Reply{}}
}

// Name returns the name by which the runtime knows the plugin.
func (p *Plugin) Name() string { return p.index + "-" + p.name }

// Subscribe limits the events of the next connection. A plugin that does not subscribe receives all
// events but ValidateContainerAdjustment. Configure and Synchronize need no subscription.
func (p *Plugin) Subscribe(events ...Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = events
}

// FailurePolicy sets the plugin's policy for events that it does not answer in time, from the next
// connection on.
func (p *Plugin) FailurePolicy(policy *api.FailurePolicy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.policy = policy
}

// On sets the answer to an event from now on. A nil reply approves the event, and so does an event
// without a reply.
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

// connect registers over a connection. If it fails, it closes only this connection: the plugin may
// have another one by then.
func (p *Plugin) connect(ctx context.Context, conn net.Conn) (err error) {
	defer func() {
		if err != nil {
			_ = conn.Close() // err is the earlier error
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
		p.networkFields(),
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

	// The stub waits for its configuration without a deadline, and its context is that of the
	// whole connection.
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

// farewell is how long the stub may take to report why its connection was lost.
const farewell = 100 * time.Millisecond

// early returns why a plugin was not synchronized before its connection, or the wait for it, ended. A
// plugin that is rejected gets the error and the end of the connection at the same time.
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

// Timeouts returns the timeouts that the runtime sent in Configure: for a request, and for a
// registration. They are zero before the first connection.
func (p *Plugin) Timeouts() (request, registration time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stub == nil {
		return 0, 0
	}
	return p.stub.RequestTimeout(), p.stub.RegistrationTimeout()
}

// NRIVersion returns the version of the runtime's NRI that it sent in Configure. If it sent none, the
// stub infers it from the version of the runtime. It is empty before the first connection.
func (p *Plugin) NRIVersion() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stub == nil {
		return ""
	}
	return p.stub.RuntimeNRIVersion()
}

// Closed returns a channel that is closed when either side closes the current connection. It is nil
// before the first connection.
func (p *Plugin) Closed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Calls returns the record so far, including events that are not answered yet.
func (p *Plugin) Calls() Calls {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := make(Calls, 0, len(p.calls))
	for _, call := range p.calls {
		calls = append(calls, *call)
	}
	return calls
}

// answer records a call and replies to it. The caller sends the fields that the reply sets in the
// call.
func (p *Plugin) answer(ctx context.Context, call *Call) error {
	call.plugin, call.Start = p, time.Now()
	replies(ctx, call)
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
