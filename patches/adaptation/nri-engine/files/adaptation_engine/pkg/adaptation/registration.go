// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/log"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// registering is how many external plugins may be registering at a time. Each must
// be done within the registration timeout.
const registering = 64

// listen lets plugins connect. If the socket cannot be made, for example because a
// folder has its path, listen tries again for as long as the runtime runs. The runtime
// starts in any case. The caller holds r.life.
func (r *Adaptation) listen() {
	err := r.startListener()
	if err == nil {
		return
	}
	log.Errorf(noCtx, "no plugin can connect, trying again: %v", err)
	go func() {
		var failed backoff
		for failed.wait(r.ending) {
			if r.listenAgain() {
				return
			}
		}
	}()
}

// listenAgain tries once more, and reports whether that was the last try.
func (r *Adaptation) listenAgain() bool {
	r.life.Lock()
	defer r.life.Unlock()
	if r.stopped {
		return true
	}
	if r.startListener() != nil {
		return false
	}
	log.Infof(noCtx, "plugins can connect")
	return true
}

// acceptPluginConnections lets plugins register for as long as the listener is open. A
// slow plugin delays no other one, as long as fewer than the limit are registering.
func (r *Adaptation) acceptPluginConnections(l net.Listener) error {
	r.listener = l
	go r.accept(l)
	return nil
}

func (r *Adaptation) accept(l net.Listener) {
	places := make(chan struct{}, registering)
	place := func() (leave func()) {
		places <- struct{}{}
		return func() { <-places }
	}
	var failed backoff
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			failed = backoff{}
		case errors.Is(err, net.ErrClosed):
			log.Infof(noCtx, "stopped accepting plugin connections (%v)", err)
			return
		default:
			// Such as too many open files, which passes.
			log.Warnf(noCtx, "failed to accept a plugin connection, trying again: %v", err)
			if !failed.wait(r.ending) {
				return
			}
			continue
		}
		go r.register(noCtx, conn, place())
	}
}

// register lets an external plugin join that has connected. leave gives back its place among
// the plugins that are registering.
func (r *Adaptation) register(ctx context.Context, conn net.Conn, leave func()) {
	leave = sync.OnceFunc(leave)
	defer leave()
	p, err := r.newExternalPlugin(conn)
	if err == nil {
		err = p.start(r.name, r.version)
	}
	if err == nil {
		p.waits = leave
		err = r.join(ctx, p)
	}
	if err != nil {
		log.Errorf(ctx, "plugin connected and failed to join: %v", err)
		if p != nil {
			p.close()
		}
		return
	}
	r.logPlugins()
	log.Infof(ctx, "plugin %q connected and synchronized", p.name())
}

// waits is called when a plugin waits until another one of its name leaves. It may wait for
// ever, and must not block the registration of others.
func waits(conn lifecycle.Connection) {
	if p := conn.(connection).plugin; p.waits != nil {
		p.waits()
	}
}

// backoff waits between tries, twice as long each time.
type backoff struct{ last time.Duration }

const shortestWait, longestWait = 10 * time.Millisecond, 10 * time.Second

// wait reports whether the wait ended before stop was closed.
func (b *backoff) wait(stop <-chan struct{}) bool {
	b.last = min(max(2*b.last, shortestWait), longestWait)
	t := time.NewTimer(b.last)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
		return false
	}
}
