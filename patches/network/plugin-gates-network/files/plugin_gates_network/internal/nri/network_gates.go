// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/containerd/log"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// gatesWatched is how often gates are checked if no caller asks for NetworkReady, which does not
// wait for this check.
const gatesWatched = 200 * time.Millisecond

// networkGates are the gates of all plugins that have one.
type networkGates struct {
	required func() []nri.RequiredPlugin
	clock    func() time.Time
	kept     keptGates
	log      *log.Entry

	stopped chan struct{}
	moving  chan struct{} // has an element if moved may have some
	watch   sync.WaitGroup

	mu    sync.Mutex // guards the fields below, and is held over no call
	gates map[string]*gate
	from  time.Time     // when plugins could first connect
	moved []NetworkGate // transitions that are still to be noted, in order
}

// newNetworkGates returns nil if no plugin gates the network. Gates have the state from before a
// restart of containerd.
func newNetworkGates(c *Config, required func() []nri.RequiredPlugin) *networkGates {
	g := &networkGates{
		required: required,
		clock:    time.Now,
		kept:     keptGates(c.stateDir),
		log:      log.L,
		stopped:  make(chan struct{}),
		moving:   make(chan struct{}, 1),
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

// start begins to watch, once plugins can connect.
func (g *networkGates) start() {
	if g == nil {
		return
	}
	g.begin()
	g.mu.Lock()
	g.from = g.clock()
	g.mu.Unlock()
	g.watch.Go(func() {
		ticker := time.NewTicker(gatesWatched)
		defer ticker.Stop()
		for {
			select {
			case <-g.stopped:
				return
			case <-ticker.C:
			case <-g.moving:
			}
			g.look()
		}
	})
}

// stop ends the watch. It must be called once at most.
func (g *networkGates) stop() {
	if g == nil {
		return
	}
	close(g.stopped)
	g.watch.Wait()
}

// now returns the current state of all gates, by name.
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

// of returns the gate of a plugin, or nil if it has none. It also moves the gate to the returned
// state, so that NetworkReady does not forget that it saw the plugin connected.
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
	s := NetworkGate{Plugin: p.Name, Closed: own.closed(p, g.from, g.clock()), Grace: own.grace.String(), Disconnected: p.Disconnected}
	if own.open == s.Closed {
		own.open = !s.Closed
		g.moved = append(g.moved, s)
		select {
		case g.moving <- struct{}{}:
		default:
		}
	}
	return &s
}

// begin logs and counts the state of gates at the start, which is no transition.
func (g *networkGates) begin() {
	for _, name := range slices.Sorted(maps.Keys(g.gates)) {
		closed := !g.kept.has(name)
		gauge(name, closed)
		if closed {
			g.log.WithField("plugin", name).Warn("network takes no pods until required NRI plugin has connected")
		}
	}
}

// look notes transitions. Only the goroutine of start calls it, so that they are noted in order.
func (g *networkGates) look() {
	g.now()
	g.mu.Lock()
	moved := g.moved
	g.moved = nil
	g.mu.Unlock()
	for _, s := range moved {
		g.note(s)
	}
}

// note records, counts and logs a transition.
func (g *networkGates) note(s NetworkGate) {
	entry := g.log.WithField("plugin", s.Plugin)
	if err := g.kept.keep(s.Plugin, !s.Closed); err != nil {
		entry.WithError(err).Warn("a restart of containerd will not know whether the NRI plugin was connected")
	}
	gauge(s.Plugin, s.Closed)
	if s.Closed {
		networkGateTransitions.WithValues(s.Plugin, "closed").Inc()
		entry.WithField("since", s.Disconnected.UTC().Format(time.RFC3339)).Warn("network takes no pods: required NRI plugin is disconnected")
		return
	}
	networkGateTransitions.WithValues(s.Plugin, "open").Inc()
	entry.Info("network waits no longer for required NRI plugin: it is connected")
}

// gauge sets the metric of a plugin's gate.
func gauge(plugin string, closed bool) {
	value := 0.0
	if closed {
		value = 1
	}
	networkGateClosed.WithValues(plugin).Set(value)
}
