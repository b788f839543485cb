// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"slices"
)

// gates let one connection of a name at a time be synchronized, and after it the
// newest of those that have come meanwhile: so that each gets to its end, however fast
// others come. Engine.mu guards them.
type gates map[string]*gate

type gate struct {
	in   *lane
	next *lane         // nil if none waits
	free chan struct{} // closed when it is the turn of next
}

// enterGate waits until the connection is the one that is synchronized.
func (e *Engine) enterGate(ctx context.Context, l *lane) error {
	e.mu.Lock()
	g := e.gates[l.name]
	if g == nil {
		e.gates[l.name] = &gate{in: l}
		e.mu.Unlock()
		return nil
	}
	older, free := g.next, make(chan struct{})
	g.next, g.free = l, free
	e.mu.Unlock()
	if older != nil {
		e.drop(older, errNewer)
	}
	var err error
	select {
	case <-free:
		return nil
	case <-l.gone:
		err = l.reason()
	case <-ctx.Done():
		err = ctx.Err()
	}
	e.mu.Lock()
	if g.next == l {
		g.next = nil
	}
	e.mu.Unlock()
	e.leaveGate(l)
	return err
}

// leaveGate lets the next one in, if it is the connection that is in.
func (e *Engine) leaveGate(l *lane) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch g := e.gates[l.name]; {
	case g == nil || g.in != l:
	case g.next == nil:
		delete(e.gates, l.name)
	default:
		g.in, g.next = g.next, nil
		close(g.free)
	}
}

// origins is how many places a name remembers from which predecessors came.
const origins = 16

// standBack waits while a connection serves that has succeeded one from the same origin.
// Of those from one origin the newest waits.
func (e *Engine) standBack(ctx context.Context, l *lane) error {
	place := standing{l.name, e.originOf(l)}
	for {
		e.mu.Lock()
		f := e.serving(l.name)
		if f == nil || !slices.Contains(f.origins, place.origin) {
			e.leaveStanding(place, l)
			e.mu.Unlock()
			return nil
		}
		older := e.standing[place]
		e.standing[place] = l
		e.mu.Unlock()
		if older != nil && older != l {
			e.drop(older, errNewer)
		}
		var err error
		select {
		case <-f.out:
			continue
		case <-l.gone:
			err = l.reason()
		case <-ctx.Done():
			err = ctx.Err()
		}
		e.mu.Lock()
		e.leaveStanding(place, l)
		e.mu.Unlock()
		return err
	}
}

// A standing is where a connection waits that stands back.
type standing struct{ name, origin string }

// leaveStanding is for one that waits no longer. mu is held.
func (e *Engine) leaveStanding(place standing, l *lane) {
	if e.standing[place] == l {
		delete(e.standing, place)
	}
}

// originsFor returns the origins of those that have gone before a successor. It is
// itself none of them. Engine.mu is held.
func (l *lane) originsFor(successor *lane) (gone []string) {
	own := l.engine.originOf(successor)
	for _, o := range append(slices.Clone(l.origins), l.engine.originOf(l)) {
		if o != "" && o != own && !slices.Contains(gone, o) {
			gone = append(gone, o)
		}
	}
	return gone[max(0, len(gone)-origins):]
}

func (e *Engine) originOf(l *lane) string {
	return e.opts.Origin(l.conn)
}
