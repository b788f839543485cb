// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/log"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// changes are the updates that one plugin asks for, in its replies and by itself. They are
// applied one after the other, in the order in which the plugin asked for them. The goroutine
// ends with the last of them.
type changes struct {
	mu      sync.Mutex // guards what follows
	waiting []func()
	running bool
}

// add appends a change.
func (c *changes) add(apply func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, apply)
	if !c.running {
		c.running = true
		go c.run()
	}
}

func (c *changes) run() {
	for {
		c.mu.Lock()
		if len(c.waiting) == 0 {
			c.running, c.waiting = false, nil
			c.mu.Unlock()
			return
		}
		apply := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.mu.Unlock()
		apply()
	}
}

// changeTimeout is how long the update of one container may take. Later changes wait for it.
const changeTimeout = 10 * time.Second

// applyEach applies updates one after the other, each within changeTimeout.
func (r *Adaptation) applyEach(ctx context.Context, updates []*ContainerUpdate) (failed []*ContainerUpdate, err error) {
	for _, u := range updates {
		ctx, cancel := context.WithTimeout(ctx, changeTimeout)
		left, failure := r.updateContainers(ctx, []*ContainerUpdate{u})
		cancel()
		failed = append(failed, left...) // with an error, or without one
		err = cmp.Or(err, failure)
	}
	return failed, err
}

// UpdateContainers relays updates that the plugin asks for by itself. They are applied
// after those that it asked for before.
func (p *plugin) UpdateContainers(ctx context.Context, req *UpdateContainersRequest) (*UpdateContainersResponse, error) {
	log.Infof(ctx, "plugin %q requested container updates", p.name())

	type result struct {
		failed []*ContainerUpdate
		err    error
	}
	applied := make(chan result, 1)
	p.changes.add(func() {
		failed, err := p.r.applyEach(ctx, req.Update)
		applied <- result{failed, err}
	})
	r := <-applied
	return &UpdateContainersResponse{Failed: r.failed}, r.err
}

// unheard applies the updates of a reply that no request of the runtime returns: the
// reply came late, or the runtime wants all updates applied this way. Those of a late
// reply to an update of a container do not apply to the container itself: the update is
// over. If the request has failed, none applies.
func (r *Adaptation) unheard(conn lifecycle.Connection, ev lifecycle.Event, reply any) {
	var updates []*ContainerUpdate
	switch reply := reply.(type) {
	case *StopContainerResponse:
		updates = reply.GetUpdate()
	case *UpdateContainerResponse:
		updates = ofOthers(reply.GetUpdate(), ev.Container)
	case *CreateContainerResponse:
		updates = reply.GetUpdate()
	}
	type settles interface {
		late(of *plugin) bool
	}
	p := conn.(connection).plugin
	if request, is := ev.Request.(settles); is && request.late(p) {
		return
	}
	r.change(p, ev.String(), updates)
}

// ofOthers returns the updates of containers other than own.
func ofOthers(updates []*ContainerUpdate, own string) []*ContainerUpdate {
	return slices.DeleteFunc(slices.Clone(updates), func(u *ContainerUpdate) bool { return u.GetContainerId() == own })
}

// change applies updates in their turn.
func (r *Adaptation) change(p *plugin, asked string, updates []*ContainerUpdate) {
	if len(updates) == 0 {
		return
	}
	p.changes.add(func() { r.applyAsked(p, asked, updates) })
}

// applyAsked applies updates for which no plugin waits.
func (r *Adaptation) applyAsked(p *plugin, asked string, updates []*ContainerUpdate) {
	failed, err := r.applyEach(noCtx, updates)
	if err != nil {
		log.Warnf(noCtx, "plugin %q: %s: updates of other containers failed: %v", p.name(), asked, err)
	}
	for _, u := range failed {
		log.Warnf(noCtx, "plugin %q: %s: update of container %s failed", p.name(), asked, u.GetContainerId())
	}
}
