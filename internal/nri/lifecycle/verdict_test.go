// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// here returns the plugins that are connected.
func (w *world) here() []*simPlugin {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.present()
}

// present returns the plugins that are connected. world.mu is held.
func (w *world) present() []*simPlugin {
	var here []*simPlugin
	for _, p := range w.plugins {
		if !p.joined.IsZero() && p.process == w.process && !p.isClosed() {
			here = append(here, p)
		}
	}
	return here
}

// broken returns the rules that have been broken so far.
func (w *world) broken() []string {
	w.mu.Lock()
	faults := slices.Clone(w.faults)
	plugins := slices.Clone(w.plugins)
	w.mu.Unlock()
	for _, p := range plugins {
		r := w.read(p)
		faults = append(faults, p.turned()...)
		p.mu.Lock()
		for _, f := range append(r.faults, p.faults...) {
			faults = append(faults, p.name+": "+f)
		}
		p.mu.Unlock()
	}
	for _, c := range w.process.engine.Status().Connections {
		if c.Depth > w.backlog() && !w.hands {
			faults = append(faults, fmt.Sprintf("L14: %d events wait for %s", c.Depth, c.Conn.Name()))
		}
	}
	return faults
}

// settle waits until all that is under way has ended.
func (w *world) settle() {
	w.process.ops.Wait()
	for range 10_000 {
		synctest.Wait()
		busy := false
		for _, c := range w.process.engine.Status().Connections {
			busy = busy || c.Depth > 0 || c.Current.Kind != 0
		}
		if !busy {
			return
		}
		time.Sleep(requestTimeout)
	}
	w.fault("L4: a lane never becomes idle")
}

// atRest returns the rules that are broken now that all is at rest: the plugins must know exactly
// what the runtime has.
func (w *world) atRest() []string {
	faults := append(w.broken(), w.unapproved()...)
	for _, d := range w.duties {
		if !d.plugin.isClosed() && (d.met == nil || !d.met()) {
			faults = append(faults, d.plugin.name+": "+d.broken)
		}
	}
	for _, p := range w.here() {
		r := w.read(p)
		for id, pod := range w.pods {
			// A plugin never receives what began and ended while it was overdue.
			if r.pods[id] == nil && !pod.stopping && p.wants(RunPodSandbox) { // no plugin of moby does
				faults = append(faults, fmt.Sprintf("L2: %s never received pod %s", p.name, id))
			}
		}
		for id, c := range w.containers {
			if r.containers[id] == nil && !c.exited && !c.removed && p.wants(CreateContainer) && !slices.Contains(w.between[id], p) {
				faults = append(faults, fmt.Sprintf("L2: %s never received container %s", p.name, id))
			}
		}
		pods, containers := r.alive()
		for _, id := range pods {
			if pod := w.pods[id]; pod == nil {
				faults = append(faults, fmt.Sprintf("L3: %s never received the end of pod %s", p.name, id))
			} else if pod.stopped && !r.pods[id].stopped && p.wants(StopPodSandbox) {
				faults = append(faults, fmt.Sprintf("L9: %s never received the stop of pod %s", p.name, id))
			}
		}
		for _, id := range containers {
			if w.containers[id] == nil && (w.runtime != crio || w.pods[r.containers[id].pod] == nil) {
				faults = append(faults, fmt.Sprintf("L3: %s never received the end of container %s", p.name, id))
			}
		}
	}
	return faults
}

// removeAll ends all pods.
func (w *world) removeAll() {
	for range 1000 { // CRI-O may fail to stop a pod while a plugin is overdue
		for _, id := range w.podIDs() {
			w.process.removePod(w.process.ctx, id, course{})
		}
		if len(w.podIDs()) == 0 {
			return
		}
		time.Sleep(requestTimeout)
	}
}

// leftovers returns what the engine keeps of objects that are long gone, after a plugin has
// joined: until then the engine keeps a Stop that comes after the Remove.
func (w *world) leftovers() (kept []string) {
	e := w.process.engine
	ends := 0
	for _, p := range e.ended {
		if p.stage != leaving { // the engine forgets them after many other removals
			ends++
		}
	}
	if n := ends + len(e.creations); n > 0 {
		kept = append(kept, fmt.Sprintf("the engine keeps %d creations and %d ends of objects that no longer exist", len(e.creations), ends))
	}
	for _, c := range e.Status().Connections {
		if c.Pods+c.Containers > 0 {
			kept = append(kept, fmt.Sprintf("the ledger of %s keeps %d pods and %d containers", c.Conn.Name(), c.Pods, c.Containers))
		}
	}
	return kept
}

// end leaves nothing behind, wherever the play has stopped.
func (w *world) end() {
	w.process.kill()
	w.process.engine.Close()
	w.process.ops.Wait()
	w.process.joins.Wait()
	w.calmDown() // goroutines that brought an answer may be in an observer
}

// took checks how long an operation was in the engine: at most limit if that is set, and no time
// if all plugins that want events of the kinds, given as bits, answer at once. The other plugins
// do not matter.
func (p *process) took(rule, what string, start time.Time, limit time.Duration, kinds ledger.Kinds) {
	if !p.w.timed() {
		return
	}
	d := time.Since(start)
	if limit > 0 && d > limit {
		p.w.fault("%s: %s took %s", rule, what, d)
	}
	if n := p.need(event(what).ID()); n != nil && n.waited {
		return
	}
	if p.w.hands && (p.w.runtime != patched || p.listTime() > 0) {
		return // the line may stand for a successor whose list takes time or waits for the runtime's lock
	}
	if d > 0 && !p.anyoneWaitsFor(kinds) {
		p.w.fault("L14: %s took %s while all plugins that want it answer at once", what, d)
	}
}

// anyoneWaitsFor reports whether a plugin wants events of the kinds and takes its time.
func (p *process) anyoneWaitsFor(want ledger.Kinds) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for _, who := range p.w.plugins {
		if who.process != p || who.prompt {
			continue
		}
		if p.w.hands && who.shared {
			return true // it may block another plugin of its name
		}
		for k := Synchronize; k <= RemoveContainer; k++ {
			if want&(1<<k) != 0 && who.wants(k) {
				return true
			}
		}
	}
	return false
}

// Delivered implements Observer. It checks the times of each delivery.
func (p *process) Delivered(d Delivery) {
	who := d.Conn.(*simPlugin)
	p.approved(d)
	switch {
	case p.w.runtime == patched && who.prompt && (!p.w.hands || !who.shared) && d.Waited > p.listTime() && d.Outcome == Answered:
		p.w.fault("L4: %s waited %s for %s, which always answers at once", record{Event: d.Event}, d.Waited, who.name)
	case d.Outcome == Abandoned:
		p.do(func() { p.w.abandoned[who.name+" "+record{Event: d.Event}.String()] = true })
	case d.Outcome == Skipped:
		p.do(func() { who.passed[d.Event.ID()] = true })
		if who.prompt && p.listTime() == 0 && !who.shared && !p.tooLate(who, d.Event) {
			p.w.fault("L22: %s was skipped, though it always answers at once", who.name)
		}
	case d.Took > who.requestTime():
		p.w.fault("L16: %s took %s for %s", who.name, d.Took, record{Event: d.Event})
	case d.Outcome == TimedOut && d.Took == who.requestTime():
		p.do(func() { who.fallBehind() })
		if !who.keepConnected && !who.permanent {
			p.do(func() { p.w.duties = append(p.w.duties, duty{who, "L16: timed out and was not dropped", nil}) })
		}
	case d.Outcome == TimedOut, d.Outcome == Rejected && errors.Is(d.Err, context.DeadlineExceeded):
		p.w.fault("L16: %s failed %s after %s, because its caller canceled", who.name, record{Event: d.Event}, d.Took)
	}
}

// tooLate reports whether a plugin may have connected while an object was being created, after
// other plugins that connected then had used up the time.
func (p *process) tooLate(who *simPlugin, ev Event) bool {
	n := p.need(ev.ID())
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return n != nil && time.Since(n.since) >= requestTimeout && (who.joined.IsZero() || !who.joined.Before(n.since))
}

// Recovered implements Observer.
func (p *process) Recovered(c Connection, _ Event, took time.Duration) {
	if took >= c.(*simPlugin).requestTime() {
		p.do(func() { c.(*simPlugin).fallBehind() }) // also in a request whose caller had canceled
	}
}

// Joined implements Observer.
func (p *process) Joined(c Connection, _ time.Duration, _, _ int) { p.follows(c.(*simPlugin)) }

// Left implements Observer.
func (p *process) Left(c Connection, reason error) {
	p.handedOver(c.(*simPlugin), reason)
	if !c.(*simPlugin).isClosed() {
		p.w.fault("L17: %s left and is not closed", c.Name())
	}
}

// fallBehind notes that a plugin is overdue from now on. world.mu is held.
func (p *simPlugin) fallBehind() {
	p.overdue = time.Now()
	p.skips = append(p.skips, p.overdue)
}

// wasOverdue reports whether a plugin was overdue between two times. This is known only when all
// is at rest: the observer sees a timeout after the callers have gone on, and the answer may come
// in the same instant.
func (p *simPlugin) wasOverdue(from, to time.Time) func() bool {
	return func() bool {
		return slices.ContainsFunc(p.skips, func(at time.Time) bool { return !at.Before(from) && !at.After(to) })
	}
}
