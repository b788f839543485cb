// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// worldWait is how long a pod or container of a world waits for a plugin that it
// requires and that is disconnected.
const worldWait = 3 * time.Second

// drawName draws the name of a plugin: one that may be required, or its own.
func drawName(rt *rapid.T, own string) string {
	return rapid.SampledFrom([]string{own, own, "must", "also"}).Draw(rt, "name")
}

// A need is what a pod or container requires, and what came of that. Guarded by
// world.mu.
type need struct {
	plugins []string
	words   map[string]bool // by index and name: who answered for it in time
	waited  bool
	since   time.Time
}

// needs notes what an object requires.
func (p *process) needs(o ledger.ID, plugins []string) {
	p.do(func() { p.w.needs[o] = &need{plugins: plugins, words: make(map[string]bool), since: time.Now()} })
}

func (p *process) need(o ledger.ID) *need {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.needs[o]
}

func (p *process) required(ev Event) (rs []Requirement, err error) {
	if n := p.need(ev.ID()); n != nil {
		for _, name := range n.plugins {
			rs = append(rs, Requirement{Plugin: name, Wait: worldWait, OrPresent: p.w.orPresent()})
		}
	}
	return rs, nil
}

// orPresent says whether a plugin that is required and did not subscribe need not answer.
func (w *world) orPresent() bool { return w.harsh != nil && w.harsh.present }

// Awaited implements Observer.
func (p *process) Awaited(ev Event, _ string, waited time.Duration) {
	if waited <= 0 {
		p.w.fault("L20: %s waited %s for a plugin", record{Event: ev}, waited)
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.needs[ev.ID()].waited = true
}

// Rejected implements Observer.
func (p *process) Rejected(*Unmet) {}

// word notes an answer in time. It was given though the runtime was killed meanwhile.
func (p *process) word(d Delivery) {
	if d.Outcome != Answered || d.Late || !d.Event.Kind.First() {
		return
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if n := p.w.needs[d.Event.ID()]; n != nil {
		n.words[d.Conn.Name()] = true
	}
}

// named says whether a plugin has a name, with its index or without.
func named(p *simPlugin, name string) bool {
	return p.name == name || strings.TrimPrefix(p.name, p.Index()+"-") == name
}

// absent says whether no plugin of a name is there, or on its way.
func (p *process) absent(name string) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for _, who := range p.w.plugins {
		if named(who, name) && who.process == p && !who.isClosed() {
			return false
		}
	}
	return true
}

// await waits, before anything of a pod is made, for what the pod requires.
func (p *process) await(ctx context.Context, pod string) (context.Context, error) {
	ev, start := Event{Kind: RunPodSandbox, Pod: pod}, time.Now()
	with, err := p.engine.Await(ctx, ev)
	p.heldTo(ev, start, nil, err)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	n := p.w.needs[ev.ID()]
	// For each plugin, one after the other at worst.
	if d := time.Since(start); d > 0 && p.w.timed() && (n == nil || !n.waited || d > worldWait*time.Duration(len(n.plugins))) {
		p.w.faults = append(p.w.faults, fmt.Sprintf("L20: %s waited %s before it began", pod, d))
	}
	for _, who := range p.w.plugins {
		if who.process == p && who.had(ev) {
			p.w.faults = append(p.w.faults, fmt.Sprintf("L20: %s was told of %s before it began", who.name, pod))
		}
	}
	return with, err
}

// cameAndWent says whether a plugin of a name came after start and has left: it may
// have been there in an instant in which the others were asked.
func (p *process) cameAndWent(name string, start time.Time) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return slices.ContainsFunc(p.w.plugins, func(who *simPlugin) bool {
		return named(who, name) && who.process == p && !who.came.Before(start) && who.isClosed()
	})
}

// heldTo holds the outcome of a first event that began at start against L20.
// absent is who was disconnected then, nil for one that is still to be asked of.
func (p *process) heldTo(ev Event, start time.Time, absent map[string]bool, err error) {
	if n := p.need(ev.ID()); err == nil && n != nil && absent != nil {
		for _, name := range n.plugins {
			p.w.mu.Lock()
			p.w.up = append(p.w.up, cameUp{p, ev, n, name})
			p.w.mu.Unlock()
		}
	}
	var u *Unmet
	if !errors.As(err, &u) || p.ctx.Err() != nil {
		return
	}
	if !p.w.timed() {
		return
	}
	if u.Waited > worldWait || u.Err == nil && u.Waited != worldWait {
		p.w.fault("L20: %s gave up on %s after %s", record{Event: ev}, u.Plugin, u.Waited)
	}
	forWant := u.Err == nil && absent[u.Plugin] && u.Waited == time.Since(start) && !p.cameAndWent(u.Plugin, start)
	p.w.mu.Lock()
	plugins := p.w.plugins
	p.w.mu.Unlock()
	for _, who := range plugins {
		switch {
		case who.process != p:
		case !named(who, u.Plugin):
			if forWant && who.had(ev) {
				p.w.fault("L20: %s was told of %s, which had to fail for want of %s", who.name, record{Event: ev}, u.Plugin)
			}
		case who.came.Equal(start):
			return // it may have been there for no time at all
		case u.Disconnected.Equal(time.Now()) && p.hasNewer(who, anyPlugin), p.hasNewer(who, func(newer *simPlugin) bool { return newer.had(ev) }):
			// It was succeeded in this instant, and is closed in the next.
		case u.Disconnected.IsZero() && p.hasNewer(who, func(newer *simPlugin) bool { return newer.joined.Equal(time.Now()) && !newer.wants(ev.Kind) }):
			// Likewise, by one that has no answer.
		case p.here(who, start) && who.prompt && (who.wants(ev.Kind) || p.w.orPresent()):
			p.w.fault("L20: %s failed for want of %s, though %s is there: %v", record{Event: ev}, u.Plugin, who.name, u)
		}
	}
}

// here says whether a plugin was there before a time, and still is.
func (p *process) here(who *simPlugin, before time.Time) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return !who.joined.IsZero() && who.joined.Before(before) && !who.isClosed()
}

// hasNewer says whether such a connection of the name came after this one.
func (p *process) hasNewer(than *simPlugin, such func(*simPlugin) bool) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return slices.ContainsFunc(p.w.plugins, func(who *simPlugin) bool {
		return who != than && who.name == than.name && who.process == p && !who.came.Before(than.came) && such(who)
	})
}

func anyPlugin(*simPlugin) bool { return true }

// A cameUp is a pod or container that has start and required a plugin.
type cameUp struct {
	process *process
	event   Event
	need    *need
	name    string
}

// unapproved returns what started without a word that it required, now that all is at rest: a
// connection that closes as it answers lets go of who waits for it before that is observed.
func (w *world) unapproved() (faults []string) {
	for _, c := range w.up {
		if !c.process.heard(c.need, c.name) && !c.process.hadMute(c) {
			faults = append(faults, fmt.Sprintf("L20: %s started without the word of %s", record{Event: c.event}, c.name))
		}
	}
	return faults
}

// hadMute says whether a plugin was there that did not have to answer.
func (p *process) hadMute(c cameUp) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.orPresent() && slices.ContainsFunc(p.w.plugins, func(who *simPlugin) bool {
		return named(who, c.name) && who.process == p && who.had(Event{Kind: Synchronize}) && !who.wants(c.event.Kind)
	})
}

// heard says whether a plugin of a name has answered.
func (p *process) heard(n *need, name string) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for who := range n.words {
		if _, base, _ := strings.Cut(who, "-"); who == name || base == name {
			return true
		}
	}
	return false
}
