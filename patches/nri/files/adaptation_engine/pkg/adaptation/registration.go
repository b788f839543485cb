// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/containerd/nri/pkg/log"
)

// registering is how many external plugins may be registering at a time. Each
// has the registration timeout to get through.
const registering = 64

// listen lets plugins connect. Where their socket cannot be made, because of what
// lies in its place for one, that is tried again for as long as the runtime runs:
// it does not keep the runtime from starting. The caller holds r.life.
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

// listenAgain says whether there is nothing left to try.
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

// acceptPluginConnections lets plugins register for as long as the listener
// is open. A plugin that takes its time delays no other, up to as many as may
// be registering.
func (r *Adaptation) acceptPluginConnections(l net.Listener) error {
	r.listener = l
	go r.accept(l)
	return nil
}

func (r *Adaptation) accept(l net.Listener) {
	places := make(chan struct{}, registering)
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
			// As with too many open files, which pass.
			log.Warnf(noCtx, "failed to accept a plugin connection, trying again: %v", err)
			if !failed.wait(r.ending) {
				return
			}
			continue
		}
		places <- struct{}{}
		go func() {
			defer func() { <-places }()
			r.register(noCtx, conn)
		}()
	}
}

// register brings in an external plugin that has connected.
func (r *Adaptation) register(ctx context.Context, conn net.Conn) {
	p, err := r.newExternalPlugin(conn)
	if err == nil {
		err = p.start(r.name, r.version)
	}
	if err == nil {
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

// backoff waits between tries, twice as long each time.
type backoff struct{ last time.Duration }

const shortestWait, longestWait = 10 * time.Millisecond, 10 * time.Second

// wait returns false if stop is closed meanwhile.
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
