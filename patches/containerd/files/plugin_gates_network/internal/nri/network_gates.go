// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"sync"
	"time"

	"github.com/containerd/log"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// gatesWatched is how often it is looked for transitions, to log, count and keep
// them. What NetworkReady says does not wait for it.
const gatesWatched = 200 * time.Millisecond

// networkGates are the gates of all plugins that have one.
type networkGates struct {
	required func() []nri.RequiredPlugin
	clock    func() time.Time
	kept     keptGates
	log      *log.Entry

	stopped chan struct{}
	watch   sync.WaitGroup

	mu    sync.Mutex // guards gates and from, and is held over no call
	gates map[string]*gate
	from  time.Time // when plugins could first have come
}

// newNetworkGates returns nil if no plugin gates the network. Gates are as they were
// before a restart of containerd.
func newNetworkGates(c *Config, required func() []nri.RequiredPlugin) *networkGates {
	g := &networkGates{
		required: required,
		clock:    time.Now,
		kept:     keptGates(c.stateDir),
		log:      log.L,
		stopped:  make(chan struct{}),
		gates:    map[string]*gate{},
	}
	for name, p := range c.Plugins {
		if p.GatesNetwork {
			g.gates[name] = &gate{grace: p.networkGrace(), open: g.kept.has(name)}
		}
	}
	if len(g.gates) == 0 {
		return nil
	}
	g.from = g.clock()
	return g
}

// start begins to watch, once plugins can come.
func (g *networkGates) start() {
	if g == nil {
		return
	}
	g.mu.Lock()
	g.from = g.clock()
	g.mu.Unlock()
	for _, s := range g.now() {
		gauge(s)
		if s.Closed {
			g.log.WithField("plugin", s.Plugin).Warn("network takes no pods until required NRI plugin has come")
		}
	}
	g.watch.Go(func() {
		ticker := time.NewTicker(gatesWatched)
		defer ticker.Stop()
		for {
			select {
			case <-g.stopped:
				return
			case <-ticker.C:
				g.look()
			}
		}
	})
}

// stop ends what start began. It must be called once at most.
func (g *networkGates) stop() {
	if g == nil {
		return
	}
	close(g.stopped)
	g.watch.Wait()
}

// now returns all gates as they are, by name.
func (g *networkGates) now() (all []NetworkGate) {
	if g == nil {
		return nil
	}
	for _, p := range g.required() {
		if s := g.of(p); s != nil {
			all = append(all, *s)
		}
	}
	return all
}

// of returns the gate of a plugin, or nil if it has none.
func (g *networkGates) of(p nri.RequiredPlugin) *NetworkGate {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	own := g.gates[p.Name]
	if own == nil {
		return nil
	}
	return &NetworkGate{Plugin: p.Name, Closed: own.closed(p, g.from, g.clock()), Grace: own.grace.String(), Away: p.Away}
}

// look notes transitions. Only the goroutine of start calls it, so that each is
// noted once.
func (g *networkGates) look() {
	for _, s := range g.now() {
		if g.move(s) {
			g.note(s)
		}
	}
}

// move takes over what a gate is now, and tells whether that is new.
func (g *networkGates) move(s NetworkGate) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := g.gates[s.Plugin]
	moved := own.open == s.Closed
	own.open = !s.Closed
	return moved
}

// note logs, counts and keeps a transition.
func (g *networkGates) note(s NetworkGate) {
	entry := g.log.WithField("plugin", s.Plugin)
	gauge(s)
	if s.Closed {
		networkGateTransitions.WithValues(s.Plugin, "closed").Inc()
		entry.WithField("since", s.Away.UTC().Format(time.RFC3339)).Warn("network takes no pods: required NRI plugin is away")
	} else {
		networkGateTransitions.WithValues(s.Plugin, "open").Inc()
		entry.Info("network waits no longer for required NRI plugin: it is there")
	}
	if err := g.kept.keep(s.Plugin, !s.Closed); err != nil {
		entry.WithError(err).Warn("a restart of containerd will not find whether the NRI plugin was there")
	}
}

// gauge sets the metric to what a gate is now.
func gauge(s NetworkGate) {
	closed := 0.0
	if s.Closed {
		closed = 1
	}
	networkGateClosed.WithValues(s.Plugin).Set(closed)
}
