// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

// A name that is away is the lane of its last connection, closed: what comes to
// it goes through its ledger as ever, and is owed to the name rather than sent.
// So there is one place that says what a name has to be told, and in which order,
// whether it is there or not. After a restart such a lane is made of what was
// kept. With nobody away there is nothing to do.

// goneNow makes a lane that has closed stand for its name, if there is no other
// connection of it. mu is held.
func (e *Engine) goneNow(l *lane) {
	if e.opts.Owed == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.joined || l.passed {
		return
	}
	if e.twins(l) > 0 {
		l.passed = true
		return
	}
	e.setAway(l)
	e.opts.Owed.Left(l.name, l.ledger.all())
}

// makeSafe sees to it that a restart finds a name away, with what it knows. From
// then on an end is owed whether or not it was noted, for as long as the runtime
// lists the object; before, all that is owed has to be safe.
func (e *Engine) makeSafe(l *lane) {
	if e.opts.Owed == nil {
		return
	}
	e.opts.Owed.Sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.safe = true
}

// former returns a connection of the lane's name that has closed, and whose end was not
// noticed yet or not seen through. What the name is owed has to be known before the
// next one takes part. mu is held.
func (e *Engine) former(l *lane) *lane {
	for _, o := range e.lanes {
		if o != l && o.name == l.name && o.lost() {
			return o
		}
	}
	if o := e.away[l.name]; o != nil && !o.quiet {
		return o
	}
	return nil
}

// seeOut returns when a connection that has closed is none of the engine's any more,
// and what was being sent to it is accounted for.
func (e *Engine) seeOut(l *lane) {
	e.drop(l, ErrClosed)
	<-l.out
	l.work.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	l.quiet = true
}

// twins returns how many other connections of the lane's name are synchronized, and
// has each know whether it has twins: a name is away when it has no connection, and
// owed nothing before. mu is held, and l.mu: of all locks that of one lane is taken
// with that of another here and in turn alone, under mu.
func (e *Engine) twins(l *lane) int {
	var others []*lane
	for _, o := range e.lanes {
		if o != l && o.name == l.name && o.isJoined() {
			others = append(others, o)
		}
	}
	here := len(others)
	if l.closed == nil {
		here++
		l.twin = here > 1
	}
	for _, o := range others {
		o.mu.Lock()
		o.twin = here > 1
		o.mu.Unlock()
	}
	return len(others)
}

// setAway has a lane stand for its name. mu is held.
func (e *Engine) setAway(l *lane) {
	away := maps.Clone(e.away)
	if away == nil {
		away = make(map[string]*lane, 1)
	}
	away[l.name] = l
	kept := maps.Collect(e.opts.Owed.Names())
	maps.DeleteFunc(away, func(name string, _ *lane) bool {
		_, is := kept[name]
		return !is // it was forgotten meanwhile
	})
	e.away = away
}

// unsetAway ends that. mu is held.
func (e *Engine) unsetAway(name string) {
	away := maps.Clone(e.away)
	delete(away, name)
	e.away = away
}

// takePart makes a connection one that is synchronized: what it was told of, what
// its name knew before, and what that is owed, are its own from this instant on. If
// it returns a former connection, that has to be seen out first.
func (e *Engine) takePart(l *lane, s Snapshot) (former *lane, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opts.Owed != nil {
		if former := e.former(l); former != nil {
			return former, nil
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = nil
	if l.closed != nil {
		return nil, l.closed
	}
	l.joined = true
	var knew ledger
	if former := e.away[l.name]; former != nil {
		former.mu.Lock()
		knew = former.ledger
		l.brokeAt, l.broke = former.brokeAt, former.broke
		former.ledger, former.passed, former.heir = newLedger(), true, l
		former.mu.Unlock()
		e.unsetAway(l.name)
	}
	e.takeUp(l, s, knew)
	return nil, nil
}

// takeUp makes what a connection was told of by Synchronize, what its name knew before
// and what that is owed the connection's own. mu and l.mu are held.
func (e *Engine) takeUp(l *lane, s Snapshot, knew ledger) {
	l.ledger = newLedger()
	l.ledger.seed(s)
	l.ledger.inherit(knew)
	if e.opts.Owed == nil {
		return
	}
	if e.twins(l) == 0 {
		l.followUp()
		l.collect(s, knew)
		e.opts.Owed.Joined(l.name, l.endsWanted())
	}
	for _, waits := range l.line {
		if waits.part != nil && waits.part.late {
			l.oweRest(waits.part) // for which nobody waits
		}
	}
}

// followUp sees to the Remove of what is owed a Stop and that nobody knows any more, since
// a connection took it along that left while another of the name was there. In a pod that
// is there it is to come, else it is owed too. l.mu is held.
func (l *lane) followUp() {
	all := debts(l.engine.opts.Owed.Owes(l.name))
	removed := make(map[object]bool)
	for _, d := range all {
		removed[d.event.object()] = removed[d.event.object()] || d.event.Kind.removal()
	}
	for _, d := range all {
		pod, container := d.event.Pod, d.event.Container
		if removed[d.event.object()] || l.ledger.knows(pod, container) {
			continue
		}
		if container != "" && l.ledger.knows(pod, "") {
			l.ledger.enter(pod, container, stopped)
			continue
		}
		l.unpaid(l.engine.removal(pod, container))
	}
}

// removal is the Remove of what the runtime has no more, and handed in no end of.
func (e *Engine) removal(pod, container string) Event {
	end := Event{Kind: RemovePodSandbox, Pod: pod, Container: container}
	if container != "" {
		end.Kind = RemoveContainer
	}
	end.Request = e.opts.ImpliedEnd(end.Kind, container, Event{Pod: pod})
	return end
}

// collect takes what the lane's name is owed, to be told before all else. Of what
// the connection was just told to be there the end is still to come, and will be
// told then; but for a pod that has stopped, whose Stop does not come again. l.mu
// is held.
func (l *lane) collect(s Snapshot, knew ledger) {
	there := make(map[object]Object, len(s.Pods)+len(s.Containers))
	for _, objects := range [][]Object{s.Pods, s.Containers} {
		for _, o := range objects {
			there[object{o.Pod, o.Container}] = o
		}
	}
	stops := make(map[string]bool) // pods whose Stop is owed
	owed := l.engine.opts.Owed
	for _, due := range slices.Collect(owed.Owes(l.name)) {
		if !kindOf(due.Kind).final() {
			owed.Paid(l.name, due.Kind, due.Object) // of another version: nobody can tell it
		}
	}
	passed := make(map[string]bool) // pods of which an end is told before the line, and all before it
	for _, d := range slices.Backward(debts(owed.Owes(l.name))) {
		o, listed := there[d.event.object()]
		toCome := listed && (d.event.Kind != StopPodSandbox || !o.Stopped)
		if toCome || !l.subscribed(d.event.Kind) {
			l.pays(d.event)
			continue
		}
		if !passed[d.event.Pod] && l.inLine(d.event) {
			l.ledger.reenter(d.event)
			l.owing = true
			continue
		}
		passed[d.event.Pod] = true
		stops[d.event.Pod] = stops[d.event.Pod] || d.event.Kind == StopPodSandbox
		l.debts = append(l.debts, d)
	}
	slices.Reverse(l.debts)
	// One that has stopped and was not told so may have no end that is owed, if the
	// runtime was killed before that was safe.
	for _, o := range s.Pods {
		p := knew.pods[o.Pod]
		if o.Stopped && !stops[o.Pod] && (p.mark == listed || p.mark == told) {
			l.oweStops(Event{Kind: StopPodSandbox, Pod: o.Pod, Request: o.Value}, knew)
		}
	}
	l.owing = l.owing || len(l.debts) > 0
	l.payUntil = time.Now().Add(l.engine.opts.SyncTimeout())
}

// oweStops owes the Stop of a pod, after those of its containers (L1), as far as the name
// knew these and was not told. l.mu is held.
func (l *lane) oweStops(stop Event, knew ledger) {
	left := knew.copyOf([]Event{stop})
	for {
		kind, container, ok := left.step(stop)
		if !ok {
			return
		}
		l.ledger.stepContainer(container, false)
		if !l.subscribed(kind) {
			continue
		}
		end := Event{Kind: kind, Pod: stop.Pod, Container: container}
		end.Request = l.engine.opts.ImpliedEnd(kind, container, stop)
		l.unpaid(end)
		l.debts = append(l.debts, debt{event: end})
	}
}

// inLine says whether an end is in the line, since it was handed in when the
// connection had come: there it comes in its order. l.mu is held.
func (l *lane) inLine(ev Event) bool {
	return slices.ContainsFunc(l.line, func(e entry) bool {
		return e.part != nil && slices.ContainsFunc(e.part.round.events, func(o Event) bool { return o.covers(&ev) })
	})
}

// reenter enters what an end in the line is the end of. Nothing else is told of it.
func (g *ledger) reenter(end Event) {
	unheard := !end.Kind.removal() // its Stop is
	if end.Container == "" {
		p := g.pods[end.Pod]
		p.mark, p.unheard = stopped, p.unheard || unheard
		g.pods[end.Pod] = p
		return
	}
	c, known := g.containers[end.Container]
	if !known {
		g.enter(end.Pod, end.Container, stopped)
		c = containerEntry{pod: end.Pod, mark: stopped, former: true}
	}
	if unheard && !c.stops() {
		c.unheard = true
		p := g.pods[c.pod]
		p.running++
		g.pods[c.pod] = p
	}
	g.containers[end.Container] = c
}

// A debt is an end that a connection is owed, from before it was synchronized.
type debt struct {
	event   Event
	request []byte // if the event has none
}

// debts returns the ends that a name is owed in an order in which they may be told (L1).
// That is the one in which they were noted, but where the name had two connections at a
// time: the one that stayed owes what it has not heard, after what the other owed before.
func debts(owed iter.Seq[Due]) []debt {
	var all []debt
	pods := make(map[string][]int)
	for due := range owed {
		ev := Event{Kind: kindOf(due.Kind), Pod: due.Object[0], Container: due.Object[1]}
		if ev.Kind.final() {
			pods[ev.Pod] = append(pods[ev.Pod], len(all))
			all = append(all, debt{ev, due.Request})
		}
	}
	ordered, done := make([]debt, 0, len(all)), make([]bool, len(all))
	var add func(int)
	add = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		for _, j := range pods[all[i].event.Pod] {
			if all[i].event.covers(&all[j].event) {
				add(j)
			}
		}
		ordered = append(ordered, all[i])
	}
	for i := range all {
		add(i)
	}
	return ordered
}

// payNext says whether a debt comes before the line. All do, for as long as others
// wait for one to be synchronized; after that they and those in line take turns,
// so that a name with much to hear does not hold up pods (L22). l.mu is held.
func (l *lane) payNext() bool {
	if len(l.debts) == 0 {
		return false
	}
	if len(l.line) == 0 || l.line[0].caller == nil || time.Now().Before(l.payUntil) {
		return true
	}
	l.paid = !l.paid
	return l.paid
}

// pay tells the first of the debts, and says whether it is not answered yet. The
// caller holds the turn, and l.mu, though that not throughout.
func (l *lane) pay() (sent bool) {
	d := l.debts[0]
	l.debts[0] = debt{}
	l.debts = l.debts[1:]
	l.mu.Unlock()
	ev, err := d.event, error(nil)
	if ev.Request == nil {
		ev.Request, err = l.engine.opts.Decode(ev, d.request)
	}
	l.mu.Lock()
	if l.closed != nil {
		return false
	}
	if err != nil {
		l.heard(ev) // nobody will ever be able to read it
		return false
	}
	r := &request{Context: l.engine.ctx, lane: l, event: ev, owed: true, posted: time.Now()}
	if !l.transmit(r) {
		return true
	}
	l.conclude(r)
	return false
}

// tellings is how many connections of a name in a row may be lost at one missed end. Then
// it is not sent any more: a plugin that breaks at it, whenever it is told, serves the rest (L22).
const tellings = 3

// breaksAgain notes that a connection was lost at a missed end, and says whether that
// is not sent any more. l.mu is held.
func (l *lane) breaksAgain(ev Event) bool {
	if !ev.same(&l.brokeAt) {
		l.brokeAt, l.broke = Event{Kind: ev.Kind, Pod: ev.Pod, Container: ev.Container}, 0
	}
	l.broke++
	return l.broke >= tellings
}

// Recall brings back, after a restart, the names that were there before. It is to be
// called once, before a connection joins and before the runtime ends anything. What
// the names know that were connected to the end is what the runtime lists now, but for
// what has ended as far as they are concerned: what they are owed; and what was cut in
// its creation, see Options.Cut. What a name knows
// and the runtime no longer has ended while nobody was there to tell.
func (e *Engine) Recall(ctx context.Context) error {
	if e.opts.Owed == nil {
		return nil
	}
	names := maps.Collect(e.opts.Owed.Names())
	if len(names) == 0 {
		return nil
	}
	there, err := e.opts.List(ctx)
	if err != nil {
		err = fmt.Errorf("what the plugins know that were connected before is not known: %w", err)
	}
	cut := e.cut()
	for name, p := range names {
		l := e.recalled(name, p)
		if p.Away.IsZero() {
			l.ledger.seed(there)
			for _, c := range there.Exited {
				m := listed
				if l.ledger.pods[c.Pod].mark == stopped {
					m = stopped // before its pod
				}
				l.ledger.enter(c.Pod, c.Container, m)
			}
			for _, o := range cut[name] {
				l.ledger.know(o.Pod, o.Container)
			}
			l.ledger.endAll(debts(e.opts.Owed.Owes(name)))
			e.opts.Owed.Left(name, l.ledger.all())
		} else {
			l.ledger.recall(e.opts.Owed.Known(name))
		}
		if err == nil {
			e.owePassed(l, there)
		}
		e.mu.Lock()
		e.setAway(l)
		e.mu.Unlock()
		e.makeSafe(l)
	}
	return err
}

// cut returns what the runtime was killed in creating, by the names that were told of it.
func (e *Engine) cut() map[string][]Object {
	if e.opts.Cut == nil {
		return nil
	}
	all := make(map[string][]Object)
	for name, o := range e.opts.Cut() {
		all[name] = append(all[name], o)
	}
	return all
}

// recalled is the lane of a name that is away since before this runtime.
func (e *Engine) recalled(name string, p Presence) *lane {
	index, _, _ := strings.Cut(name, "-")
	l := &lane{engine: e, name: name, index: index, joined: true, quiet: true, closed: errAway, ledger: newLedger()}
	for _, kind := range p.Wants {
		l.wants |= 1 << kindOf(kind)
	}
	return l
}

// errAway is why the lane of a name is closed that is away since before this runtime.
var errAway = errors.New("away since before the runtime started")

// owePassed owes a name the ends of all that it knows and that is not there any more.
func (e *Engine) owePassed(l *lane, there Snapshot) {
	ids := make(map[object]bool)
	for _, objects := range [][]Object{there.Pods, there.Containers, there.Exited} {
		for _, o := range objects {
			ids[object{o.Pod, o.Container}] = true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var ends []Event
	for o := range l.ledger.all() {
		switch pod, container := o[0], o[1]; {
		case ids[object{pod, container}]:
		case container != "" && !ids[object{pod: pod}] && l.ledger.knows(pod, ""): // it ends with its pod
		default:
			ends = append(ends, e.removal(pod, container))
		}
	}
	for i := range ends {
		l.oweAll(&round{ctx: e.ctx, events: ends[i : i+1]})
	}
}

// Forget drops what is kept of a name that is away, so that nothing is kept for it
// any more. It returns how many ends it was owed, and false if it is not away.
func (e *Engine) Forget(name string) (dropped int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.away[name]
	if l == nil {
		return 0, false
	}
	e.unsetAway(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed, l.ledger = true, newLedger()
	delete(e.absent, name)
	return e.opts.Owed.Forget(name), true
}

// all returns what is known, and whether it was told that it has stopped.
func (g *ledger) all() iter.Seq2[[2]string, bool] {
	return func(yield func([2]string, bool) bool) {
		for id, p := range g.pods {
			if p.mark != unknown && !yield([2]string{id}, !p.stops()) {
				return
			}
		}
		for id, c := range g.containers {
			if !yield([2]string{c.pod, id}, !c.stops()) {
				return
			}
		}
	}
}

// recall enters what all has returned once.
func (g *ledger) recall(known iter.Seq2[[2]string, bool]) {
	for o, over := range known {
		m := listed
		if over {
			m = stopped
		}
		if pod, container := o[0], o[1]; container == "" {
			p := g.pods[pod]
			p.mark = m
			g.pods[pod] = p
		} else {
			g.enter(pod, container, m)
		}
	}
}

// endAll takes the ends that are owed for told, with those that came before them. The
// runtime may have been killed after it handed them in, and list the objects still; its
// next try has nothing to add. What is owed a Stop is known, whatever there is.
func (g *ledger) endAll(owed []debt) {
	for _, d := range owed {
		if !d.event.Kind.removal() {
			g.know(d.event.Pod, d.event.Container)
		}
		for ok := true; ok; {
			_, _, ok = g.step(d.event)
		}
	}
}

// knows says whether a pod or container is known.
func (g *ledger) knows(pod, container string) bool {
	if container == "" {
		return g.pods[pod].mark != unknown
	}
	_, known := g.containers[container]
	return known
}

// know enters what is not known.
func (g *ledger) know(pod, container string) {
	switch {
	case g.knows(pod, container):
	case container != "":
		g.enter(pod, container, listed)
	default:
		p := g.pods[pod]
		p.mark = listed
		g.pods[pod] = p
	}
}

// inherit enters what an earlier connection of the name knew. A first event of it
// may come all the same, in time or late: to this connection it is one.
func (g *ledger) inherit(former ledger) {
	for id, p := range former.pods {
		if mine := g.pods[id]; p.mark != unknown && mine.mark == unknown {
			mine.mark, mine.creating, mine.former = inherited(p.stops()), true, true
			g.pods[id] = mine
		}
	}
	for id, c := range former.containers {
		if _, known := g.containers[id]; !known {
			g.enter(c.pod, id, inherited(c.stops()))
			mine := g.containers[id]
			mine.former = true
			g.containers[id] = mine
		}
	}
}

// inherited is the mark of what an earlier connection knew, by whether its Stop is still to
// be told.
func inherited(stops bool) mark {
	if stops {
		return listed
	}
	return stopped
}

// copyOf returns a copy of what is known of the pods of some events.
func (g *ledger) copyOf(events []Event) ledger {
	some := newLedger()
	for _, ev := range events {
		if p, known := g.pods[ev.Pod]; known {
			some.pods[ev.Pod] = p
		}
	}
	for id, c := range g.containers {
		if _, wanted := some.pods[c.pod]; wanted {
			some.containers[id] = c
		}
	}
	return some
}
