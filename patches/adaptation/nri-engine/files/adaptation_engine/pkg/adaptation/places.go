// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"slices"
	"sync"

	"github.com/containerd/nri/internal/lifecycle"
)

// places keep the order between a request and the changes of plugins. A plugin that asks for
// updates of other containers in its reply gets a place among its changes, and its later changes
// come behind that place. Nothing is changed before the request has succeeded.
type places struct {
	mu    sync.Mutex // guards what follows
	taken []*place
	over  bool
	fails bool // whether the request has failed, once it is over
}

// A place belongs to one reply.
type place struct {
	plugin  *plugin
	asked   string             // the event that the reply answers
	updates []*ContainerUpdate // of other containers; not changed once settled is set
	settled chan bool          // whether the request has succeeded
	done    chan struct{}      // closed when the updates are applied, or dropped
}

// take takes the place of a reply, before the plugin receives its next request.
func (p *places) take(of *plugin, asked string, updates []*ContainerUpdate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || !of.r.ordered {
		return
	}
	at := &place{plugin: of, asked: asked, updates: updates, settled: make(chan bool, 1), done: make(chan struct{})}
	p.taken = append(p.taken, at)
	of.changes.add(at.apply)
}

func (at *place) apply() {
	defer close(at.done)
	if <-at.settled && len(at.updates) > 0 {
		at.plugin.r.applyAsked(at.plugin, at.asked, at.updates)
	}
}

// collect applies a reply on top of those before it. For its place it keeps the updates of
// containers other than own, the request's.
func (p *places) collect(r *result, conn lifecycle.Connection, reply any, own string) error {
	r.agreed = nil
	if err := r.collect(conn, reply); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.taken {
		if at.plugin == conn.(connection).plugin {
			at.updates = ofOthers(r.agreed, own)
		}
	}
	return nil
}

// late reports whether the caller need not apply the updates of a late reply: the reply has a place,
// or the request has failed.
func (p *places) late(of *plugin) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over && p.fails || slices.ContainsFunc(p.taken, func(at *place) bool { return at.plugin == of })
}

// settle ends the request, and waits until the updates of the replies are applied. It does not
// wait longer than the caller, nor at all if the request has failed.
func (p *places) settle(ctx context.Context, succeeded bool) {
	p.mu.Lock()
	p.over, p.fails = true, !succeeded
	p.mu.Unlock()
	for _, at := range p.taken { // complete, since over is set
		at.settled <- succeeded
	}
	for _, at := range p.taken {
		if !succeeded || len(at.updates) == 0 {
			continue
		}
		select {
		case <-at.done:
		case <-ctx.Done():
			return
		}
	}
}

// changedContainer is the request for the update of a container, while plugins are asked.
type changedContainer struct {
	request *UpdateContainerRequest
	result  *result
	places
}

// collect applies the reply of one plugin.
func (c *changedContainer) collect(conn lifecycle.Connection, reply any) error {
	return c.places.collect(c.result, conn, reply, c.request.GetContainer().GetId())
}
