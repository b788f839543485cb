// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"slices"
	"sync"

	"github.com/containerd/nri/internal/lifecycle"
)

// places are those that a request has among the changes of the plugins that ask for updates of
// other containers in their replies to it. What a plugin asks for later comes behind its place.
// Nothing is changed before the request has succeeded.
type places struct {
	mu    sync.Mutex // guards what follows
	taken []*place
	over  bool
}

// A place is that of one reply.
type place struct {
	plugin  *plugin
	asked   string             // the event that it answers
	updates []*ContainerUpdate // set before settled is
	settled chan bool          // whether the request has succeeded
	done    chan struct{}      // closed when the updates are applied, or dropped
}

// take takes the place of a reply. The plugin has been asked nothing else yet.
func (p *places) take(of *plugin, asked string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || !of.r.ordered {
		return
	}
	at := &place{plugin: of, asked: asked, settled: make(chan bool, 1), done: make(chan struct{})}
	p.taken = append(p.taken, at)
	of.changes.add(at.apply)
}

func (at *place) apply() {
	defer close(at.done)
	if <-at.settled && len(at.updates) > 0 {
		at.plugin.r.applyAsked(at.plugin, at.asked, at.updates)
	}
}

// collect applies a reply on top of those before it, and keeps what it asks for of containers
// other than the request's own for its place.
func (p *places) collect(r *result, conn lifecycle.Connection, reply any, own string) error {
	r.agreed = nil
	if err := r.collect(conn, reply); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.taken {
		if at.plugin == conn.(connection).plugin {
			at.updates = slices.DeleteFunc(r.agreed, func(u *ContainerUpdate) bool { return u.GetContainerId() == own })
		}
	}
	return nil
}

// settle ends the request, and waits until what plugins asked for in their replies is applied. It
// does not wait longer than the caller, nor for anything if the request has failed.
func (p *places) settle(ctx context.Context, succeeded bool) {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	for _, at := range p.taken { // complete, as it is over
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

// changedContainer is a container whose change plugins are asked for.
type changedContainer struct {
	request *UpdateContainerRequest
	result  *result
	places
}

// collect applies the reply of one plugin.
func (c *changedContainer) collect(conn lifecycle.Connection, reply any) error {
	return c.places.collect(c.result, conn, reply, c.request.GetContainer().GetId())
}
