// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A harsh world is worse than the world of most plugins: everything happens at once, and times
// and names coincide.

// TestHarshContract takes harsh worlds through the plays of TestContract, and holds them against
// the same rules. It draws other moves, so it does not change the plays that are kept for the
// mutations.
func TestHarshContract(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := setup{runtime: rapid.SampledFrom([]runtimeKind{patched, patched, crio, moby}).Draw(rt, "runtime"), hands: rapid.Bool().Draw(rt, "hands"), harsh: drawHarshness(rt)}
		s.keeps = rapid.Bool().Draw(rt, "keeps") && s.runtime == patched
		if faults := play(t, s, drawMoves(rt, drawEven, harshMoves)); faults != "" {
			rt.Fatal(faults)
		}
	})
}

// A harshness is how harsh a world is. Operations take the times of a list by turns.
type harshness struct {
	observer []time.Duration // times that the observer takes, also in Unheard and Waits
	sync     []time.Duration // times that the store takes to be safe
	list     []time.Duration // times that a list takes before it begins
	noList   int             // one in this number of lists fails; zero for none
	halves   bool            // whether a list has a container twice if it exits meanwhile
	omit     bool            // whether pods in creation are left out
	applies  bool            // whether the runtime applies the replies to ends
	present  bool            // whether a required plugin that did not subscribe approves by being connected
	backlog  int
	timeout  time.Duration // SyncTimeout

	ends  int           // how many the store keeps, for all names together; zero for any
	names int           // likewise
	ttl   time.Duration // how long it keeps a name that is disconnected; zero for ever

	mu      sync.Mutex // guards the fields below
	turn    int
	lists   int
	replies []*trackedReply
	calm    bool // whether everything is quick and works from now on

	lost    map[string]map[string]bool // ends that the store dropped, by name and object
	dropped map[string]uint64          // when the objects that a name knows were dropped, as the number of the last event sent to any plugin
	crowded map[string]bool            // names for which the store had no place
}

func drawHarshness(rt *rapid.T) *harshness {
	none := []time.Duration(nil)
	takes := rapid.SampledFrom([][]time.Duration{none, none, none, {time.Millisecond}, {0, 0, time.Second}, {0, requestTimeout, 0, 0, 0}})
	return &harshness{
		observer: takes.Draw(rt, "observer"),
		sync:     takes.Draw(rt, "sync"),
		list:     rapid.SampledFrom([][]time.Duration{none, none, {time.Second}, {0, 0, syncTimeout}, {0, requestTimeout}}).Draw(rt, "list"),
		noList:   rapid.SampledFrom([]int{0, 0, 2, 3, 5}).Draw(rt, "no list"),
		halves:   rapid.Bool().Draw(rt, "halves"),
		omit:     rapid.Bool().Draw(rt, "omit"),
		applies:  rapid.Bool().Draw(rt, "applies"),
		present:  rapid.Bool().Draw(rt, "present"),
		backlog:  rapid.SampledFrom([]int{worldBacklog, 1000}).Draw(rt, "backlog"),
		ends:     rapid.SampledFrom([]int{0, 0, 0, 2, 6}).Draw(rt, "ends"),
		names:    rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(rt, "names"),
		ttl:      rapid.SampledFrom([]time.Duration{0, 0, 0, syncTimeout, 30 * time.Second}).Draw(rt, "ttl"),
		timeout:  rapid.SampledFrom([]time.Duration{requestTimeout, syncTimeout}).Draw(rt, "sync timeout"),

		lost:    make(map[string]map[string]bool),
		dropped: make(map[string]uint64),
		crowded: make(map[string]bool),
	}
}

// slow reports whether something takes time that the contract wants to be quick, or that all
// callers wait for. Then no operation has to end in time, and no plugin counts as one that always
// answers at once. All other rules hold.
func (h *harshness) slow() bool { return h != nil && len(h.observer)+len(h.sync) > 0 }

// timed reports whether times are held against the rules.
func (w *world) timed() bool { return !w.harsh.slow() }

// backlog is how many events may wait for one plugin of a world.
func (w *world) backlog() int {
	if w.harsh == nil {
		return worldBacklog
	}
	return w.harsh.backlog
}

// takes returns how long something takes this time.
func (h *harshness) takes(times []time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(times) == 0 || h.calm {
		return 0
	}
	h.turn++
	return times[h.turn%len(times)]
}

// listTime is the longest time that a list takes before it begins.
func (h *harshness) listTime() time.Duration {
	if h == nil {
		return 0
	}
	return slices.Max(append([]time.Duration{0}, h.list...))
}

// spend lets that time pass.
func (h *harshness) spend(times []time.Duration) { time.Sleep(h.takes(times)) }

// calmDown ends all that is harsh, so that plugins receive their missed events.
func (w *world) calmDown() {
	if h := w.harsh; h != nil {
		h.mu.Lock()
		h.calm = true
		h.mu.Unlock()
		time.Sleep(requestTimeout) // until all that took time before has ended
	}
}

// worsen gives an engine the settings of a harsh world.
func (h *harshness) worsen(p *process, o *Options) {
	if h == nil {
		return
	}
	if o.MissedEvents != nil {
		o.MissedEvents = &forgetfulMemory{p.w.memory, h}
	}
	o.BacklogLimit = h.backlog
	o.SyncTimeout = func() time.Duration { return h.timeout }
	o.Observer = &slowObserver{p, h}
	o.List = func(ctx context.Context) (Snapshot, error) { return h.listed(ctx, p) }
	o.OmitCreating = h.omit
	o.Cut = func() iter.Seq2[string, Object] { return p.w.journaled }
	o.Origin = func(c Connection) string { return c.(*simPlugin).origin }
	o.HandOver = func(c Connection) bool { return p.w.hands && !c.(*simPlugin).lone }
	o.Unheard = func(c Connection, ev Event, reply any) {
		h.hear(p.w, reply, true)
		h.spend(h.observer)
	}
	o.Waits = func(c Connection) {
		c.(*simPlugin).stopWaiting()
		h.spend(h.observer)
	}
	p.lists = h.listTime()
	h.requests(p.w, o)
}

// A slowObserver is an observer that takes time.
type slowObserver struct {
	*process
	h *harshness
}

func (o *slowObserver) Delivered(d Delivery) {
	o.process.Delivered(d)
	o.h.spend(o.h.observer)
}

func (o *slowObserver) Recovered(c Connection, ev Event, took time.Duration) {
	o.process.Recovered(c, ev, took)
	o.h.spend(o.h.observer)
}

func (o *slowObserver) Joined(c Connection, took time.Duration, pods, containers int) {
	o.process.Joined(c, took, pods, containers)
	o.h.spend(o.h.observer)
}

func (o *slowObserver) Awaited(ev Event, plugin string, waited time.Duration) {
	o.process.Awaited(ev, plugin, waited)
	o.h.spend(o.h.observer)
}

func (o *slowObserver) Rejected(u *Unmet) {
	o.process.Rejected(u)
	o.h.spend(o.h.observer)
}

func (o *slowObserver) Left(c Connection, reason error) {
	o.process.Left(c, reason)
	o.h.spend(o.h.observer)
}

// errNoList is the error of a list that fails.
var errNoList = errors.New("the metadata store is locked")

// listed takes its time, then lists the objects or fails.
func (h *harshness) listed(ctx context.Context, p *process) (s Snapshot, err error) {
	defer p.locked(listing)()
	defer func() { p.keepList(s) }()
	pause(ctx, h.takes(h.list))
	h.mu.Lock()
	h.lists++
	fails := h.noList > 0 && h.lists%h.noList == 0 && !h.calm
	h.mu.Unlock()
	if fails {
		return Snapshot{}, errNoList
	}
	return valued(p.halves(ctx, true, h.halves)), nil
}

// running are the containers that have not exited. world.mu is held.
func (w *world) running() (all []Object) {
	for _, id := range slices.Sorted(maps.Keys(w.containers)) {
		if c := w.containers[id]; !c.exited {
			all = append(all, Object{Pod: c.pod, Container: id})
		}
	}
	return all
}

// A trackedReply is a reply of a plugin. The runtime must hear it exactly once.
type trackedReply struct {
	plugin *simPlugin
	event  Event
	nth    int
	heard  int
}

// track tracks a reply of a plugin. In a world that is not harsh it returns the reply itself.
func (h *harshness) track(p *simPlugin, ev Event, reply any) any {
	if h == nil || ev.Kind == ValidateContainerAdjustment { // its answer is only yes or no
		return reply
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &trackedReply{plugin: p, event: ev, nth: len(h.replies)}
	h.replies = append(h.replies, s)
	return s
}

// hear notes that a reply was heard. Replies for which no caller waited must come in order.
func (h *harshness) hear(w *world, reply any, unheard bool) {
	s, is := reply.(*trackedReply)
	if !is {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.heard++
	if p := s.plugin; unheard {
		if s.nth < p.unheard {
			w.fault("L9: the reply of %s to %s comes after a later one", p.name, record{Event: s.event})
		}
		p.unheard = s.nth
	}
}

// apply applies the replies to ends, if the runtime applies them.
func (h *harshness) apply(w *world) func(Connection, Event, any) {
	if h == nil || !h.applies {
		return nil
	}
	last := ""
	return func(c Connection, ev Event, reply any) {
		if c.Index() < last {
			w.fault("L9: the reply of %s to %s is applied after one of index %s", c.Name(), record{Event: ev}, last)
		}
		last = c.Index()
		h.hear(w, reply, false)
	}
}

// lostAnswers returns the replies that were not heard, or were heard more than once. A connection
// that has closed may have replied after that.
func (w *world) lostAnswers() (faults []string) {
	if w.harsh == nil {
		return nil
	}
	w.harsh.mu.Lock()
	defer w.harsh.mu.Unlock()
	for _, s := range w.harsh.replies {
		if s.heard != 1 && s.plugin.process == w.process && !s.plugin.isClosed() {
			faults = append(faults, fmt.Sprintf("L9: the reply of %s to %s was heard %d times", s.plugin.name, record{Event: s.event}, s.heard))
		}
	}
	return faults
}

// A manner is a temper in a harsh world.
type manner struct {
	temper
	permanent bool
	lone      bool // whether it takes part in no hand-over
	timeouts  Timeouts
	origin    string
}

// drawManner draws times that coincide: with timeouts, and with the time for which a line stands
// for a successor.
func drawManner(rt *rapid.T) manner {
	m := manner{temper: drawTemper(rt)}
	m.pace = rapid.SampledFrom([]time.Duration{time.Second, requestTimeout, requestTimeout, 2 * requestTimeout, syncTimeout}).Draw(rt, "even pace")
	m.listing = rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second}).Draw(rt, "even listing")
	if rapid.Bool().Draw(rt, "late") {
		m.events = "late"
	}
	m.lone = rapid.IntRange(0, 9).Draw(rt, "lone") == 0
	m.origin = rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(rt, "origin")
	m.timeouts = Timeouts{
		Request: rapid.SampledFrom([]time.Duration{0, 0, 0, requestTimeout / 2, 2 * requestTimeout}).Draw(rt, "request"),
		Sync:    rapid.SampledFrom([]time.Duration{0, 0, 0, requestTimeout / 2, 2 * syncTimeout}).Draw(rt, "sync"),
	}
	// A plugin that is part of the runtime does not leave by itself, and answers some time.
	m.permanent = rapid.IntRange(0, 4).Draw(rt, "permanent") == 0 &&
		slices.Contains([]string{"prompt", "slow", "rejects", "hangs", "late"}, m.events) && slices.Contains([]string{"prompt", "slow"}, m.synchronize)
	return m
}

func (m manner) plugin(w *world, name string) *simPlugin {
	p := m.temper.plugin(name)
	p.timeouts, p.origin, p.lone = m.timeouts, m.origin, m.lone
	// A permanent plugin misses events for which its line has no place. The rules do not excuse
	// that, so only worlds with long lines have permanent plugins.
	p.permanent = m.permanent && w.backlog() > worldBacklog
	p.lone = p.lone || p.permanent
	p.prompt = p.prompt && w.timed() && w.harsh.listTime() == 0
	return p
}

// Policy implements Connection.
func (p *simPlugin) Policy() Policy {
	policy := p.plugin.Policy()
	policy.Permanent = p.permanent
	return policy
}

// requestTime and syncTime are how long a plugin may take.
func (p *simPlugin) requestTime() time.Duration {
	if t := p.timeouts.Request; t > 0 {
		return t
	}
	return requestTimeout
}

func (p *simPlugin) syncTime() time.Duration {
	if t := p.timeouts.Sync; t > 0 {
		return t
	}
	if h := p.process.w.harsh; h != nil {
		return h.timeout
	}
	return syncTimeout
}

// stopWaiting ends the wait for a join that may wait for ever.
func (p *simPlugin) stopWaiting() { p.waits.Do(p.process.ops.Done) }

// drawEven draws times that coincide with timeouts, and with one another.
func drawEven(rt *rapid.T) (course, time.Duration) {
	times := []time.Duration{0, 0, time.Second, requestTimeout, syncTimeout}
	waits := []time.Duration{0, 0, 0, requestTimeout, 2 * requestTimeout, 10 * time.Second}
	return drawCourse(rt, times, [][]string{nil, nil, nil, nil, {"must"}}), rapid.SampledFrom(waits).Draw(rt, "patience")
}

// harshMoves are the moves that differ in a harsh world.
func harshMoves(nth func() int) map[string]func(*rapid.T) move {
	return map[string]func(*rapid.T) move{
		"join": func(rt *rapid.T) move {
			m := drawManner(rt)
			own := fmt.Sprintf("20-plugin%d", nth())
			name := rapid.SampledFrom([]string{"10-must", "10-must", "10-must", "10-must", "05-also", own}).Draw(rt, "name")
			return func(w *world) {
				p := m.plugin(w, name)
				p.shared = name != own
				w.join(p)
			}
		},
		"come back": func(rt *rapid.T) move {
			n, m := drawNumber(rt, "who"), drawManner(rt)
			return func(w *world) {
				gone := slices.DeleteFunc(slices.Clone(w.plugins), func(p *simPlugin) bool { return !p.isClosed() })
				if p := pick(gone, n); p != nil {
					next := m.plugin(w, p.name)
					next.wants, next.mask, next.shared = p.wants, p.mask, true
					w.join(next)
				}
			}
		},
		"leave": func(rt *rapid.T) move {
			n := drawNumber(rt, "who")
			return func(w *world) {
				here := slices.DeleteFunc(w.here(), func(p *simPlugin) bool { return p.permanent })
				if p := pick(here, n); p != nil {
					p.Close()
				}
			}
		},
		"turn off": func(rt *rapid.T) move {
			n := drawNumber(rt, "who")
			d := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 2 * requestTimeout}).Draw(rt, "time")
			return func(w *world) {
				p := pick(w.plugins, n)
				if p == nil || slices.ContainsFunc(w.plugins, func(o *simPlugin) bool { return o.name == p.name && o.permanent }) {
					return
				}
				e := w.process.engine
				e.TurnOff(p.name)
				time.Sleep(d)
				e.TurnOn(p.name)
			}
		},
		"forget": func(rt *rapid.T) move {
			n := drawNumber(rt, "who")
			return func(w *world) {
				p := pick(w.plugins, n)
				if p == nil {
					return
				}
				// A connection that is to succeed another one starts without what that one knew.
				w.mu.Lock()
				for _, o := range w.plugins {
					o.forgot = o.forgot || o.name == p.name && o.joined.IsZero()
				}
				w.mu.Unlock()
				if _, forgot := w.process.engine.Forget(p.name); forgot {
					w.harsh.drop(p.name)
				}
			}
		},
		"disk": func(rt *rapid.T) move {
			full := rapid.IntRange(0, 3).Draw(rt, "full") == 0
			return func(w *world) {
				w.memory.mu.Lock()
				defer w.memory.mu.Unlock()
				w.memory.fails = full
			}
		},
		"kill": func(rt *rapid.T) move { // in the middle of the operations that the last moves began
			is := rapid.IntRange(0, 2).Draw(rt, "is") == 0
			return func(w *world) {
				if is {
					w.restart(true)
				}
			}
		},
		"wait": func(rt *rapid.T) move {
			d := rapid.SampledFrom([]time.Duration{time.Second, requestTimeout, syncTimeout, 2 * syncTimeout}).Draw(rt, "time")
			return func(*world) { time.Sleep(d) }
		},
	}
}
