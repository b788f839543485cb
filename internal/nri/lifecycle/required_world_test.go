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

// worldWait is how long a pod or container of a world waits for a required plugin that is
// disconnected.
const worldWait = 3 * time.Second

// drawName draws the name of a plugin: one that may be required, or its own.
func drawName(rt *rapid.T, own string) string {
	return rapid.SampledFrom([]string{own, own, "must", "also"}).Draw(rt, "name")
}

// A need is the plugins that a pod or container requires, and their answers. Guarded by world.mu.
type need struct {
	plugins   []string
	approvals map[string]bool // by index and name: plugins that approved it in time
	waited    bool
	since     time.Time
}

// needs notes what an object requires.
func (p *process) needs(o ledger.ID, plugins []string) {
	p.do(func() { p.w.needs[o] = &need{plugins: plugins, approvals: make(map[string]bool), since: time.Now()} })
}

func (p *process) need(o ledger.ID) *need {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.needs[o]
}

func (p *process) required(_ context.Context, ev Event) (rs []Requirement, err error) {
	if n := p.need(ev.ID()); n != nil {
		for _, name := range n.plugins {
			rs = append(rs, Requirement{Plugin: name, Wait: worldWait, OrPresent: p.w.orPresent()})
		}
	}
	return rs, nil
}

// orPresent reports whether a required plugin that did not subscribe need not answer.
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

// approved notes an answer in time. It counts although the runtime was killed meanwhile.
func (p *process) approved(d Delivery) {
	if d.Outcome != Answered || d.Late || !d.Event.Kind.First() {
		return
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if n := p.w.needs[d.Event.ID()]; n != nil {
		n.approvals[d.Conn.Name()] = true
	}
}

// named reports whether a plugin has a name, with its index or without.
func named(p *simPlugin, name string) bool {
	return p.name == name || strings.TrimPrefix(p.name, p.Index()+"-") == name
}

// absent reports whether no plugin of a name is connected or joining.
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

// await waits for the plugins that a pod requires, before the runtime makes anything of the pod.
func (p *process) await(ctx context.Context, pod string) (context.Context, error) {
	ev, start := Event{Kind: RunPodSandbox, Pod: pod}, time.Now()
	with, err := p.engine.Await(ctx, ev)
	p.heldTo(ev, start, nil, err)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	n := p.w.needs[ev.ID()]
	// At worst for one plugin after the other.
	if d := time.Since(start); d > 0 && p.w.timed() && (n == nil || !n.waited || d > worldWait*time.Duration(len(n.plugins))) {
		p.w.faults = append(p.w.faults, fmt.Sprintf("L20: %s waited %s before it began", pod, d))
	}
	for _, who := range p.w.plugins {
		if who.process == p && who.had(ev) {
			p.w.faults = append(p.w.faults, fmt.Sprintf("L20: %s received %s before it began", who.name, pod))
		}
	}
	return with, err
}

// cameAndWent reports whether a plugin of a name connected after start and has disconnected: it
// may have been connected in the instant in which the others were asked.
func (p *process) cameAndWent(name string, start time.Time) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return slices.ContainsFunc(p.w.plugins, func(who *simPlugin) bool {
		return named(who, name) && who.process == p && !who.came.Before(start) && who.isClosed()
	})
}

// heldTo holds the outcome of a first event that began at start against L20. absent has the
// plugins that were disconnected then; it is nil for an event that is yet to be sent.
func (p *process) heldTo(ev Event, start time.Time, absent map[string]bool, err error) {
	if n := p.need(ev.ID()); err == nil && n != nil && absent != nil {
		for _, name := range n.plugins {
			p.w.mu.Lock()
			p.w.started = append(p.w.started, started{p, ev, n, name})
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
		p.w.fault("L20: %s waited for %s until %s had passed", record{Event: ev}, u.Plugin, u.Waited)
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
				p.w.fault("L20: %s received %s, which had to fail because it lacks %s", who.name, record{Event: ev}, u.Plugin)
			}
		case who.came.Equal(start):
			return // it may have been connected for no time at all
		case u.Disconnected.Equal(time.Now()) && p.hasNewer(who, anyPlugin), p.hasNewer(who, func(newer *simPlugin) bool { return newer.had(ev) }):
			// A plugin succeeded it in this instant. It closes in the next.
		case u.Disconnected.IsZero() && p.hasNewer(who, func(newer *simPlugin) bool { return newer.joined.Equal(time.Now()) && !newer.wants(ev.Kind) }):
			// Likewise, by a plugin that does not answer.
		case p.here(who, start) && who.prompt && (who.wants(ev.Kind) || p.w.orPresent()):
			p.w.fault("L20: %s failed because it lacks %s, though %s is connected: %v", record{Event: ev}, u.Plugin, who.name, u)
		}
	}
}

// here reports whether a plugin was connected before a time, and still is.
func (p *process) here(who *simPlugin, before time.Time) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return !who.joined.IsZero() && who.joined.Before(before) && !who.isClosed()
}

// hasNewer reports whether a connection of the same name came after this one, and is such.
func (p *process) hasNewer(than *simPlugin, such func(*simPlugin) bool) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return slices.ContainsFunc(p.w.plugins, func(who *simPlugin) bool {
		return who != than && who.name == than.name && who.process == p && !who.came.Before(than.came) && such(who)
	})
}

func anyPlugin(*simPlugin) bool { return true }

// A started is a pod or container that has started and required a plugin.
type started struct {
	process *process
	event   Event
	need    *need
	name    string
}

// unapproved returns the objects that started without an approval that they required, now that
// all is at rest: a connection that closes as it answers releases its callers before the observer
// sees it.
func (w *world) unapproved() (faults []string) {
	for _, c := range w.started {
		if !c.process.hasApproved(c.need, c.name) && !c.process.hadMute(c) {
			faults = append(faults, fmt.Sprintf("L20: %s started without the approval of %s", record{Event: c.event}, c.name))
		}
	}
	return faults
}

// hadMute reports whether a plugin was connected that did not have to answer.
func (p *process) hadMute(c started) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.orPresent() && slices.ContainsFunc(p.w.plugins, func(who *simPlugin) bool {
		return named(who, c.name) && who.process == p && who.had(Event{Kind: Synchronize}) && !who.wants(c.event.Kind)
	})
}

// hasApproved reports whether a plugin of a name has approved.
func (p *process) hasApproved(n *need, name string) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for who := range n.approvals {
		if _, base, _ := strings.Cut(who, "-"); who == name || base == name {
			return true
		}
	}
	return false
}
