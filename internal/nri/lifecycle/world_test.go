// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A world is a runtime that behaves as the contract wants, with its pods, its kubelet and its
// plugins, on an engine. The property tests drive it.
type world struct {
	mu         sync.Mutex // guards the fields below
	pods       map[string]*simPod
	containers map[string]*simContainer
	needs      map[ledger.ID]*need
	faults     []string // rules that were broken for certain when it happened
	duties     []duty
	started    []started

	process *process
	plugins []*simPlugin // all that ever joined

	keeps      bool // whether the engine has the memory
	memory     *memory
	lossy      bool            // whether missed events were lost with the runtime
	lost       map[string]bool // objects that the runtime has lost
	over       map[string]bool // objects whose removal was delivered, or stored for a disconnected plugin
	cut        []cutShort      // objects in whose creation the runtime was killed, as a journal has them
	duplicates map[string]bool // names that had more than one connection at a time

	abandoned map[string]bool // ends that a name no longer receives, since they broke its connections

	hands bool // whether the engine hands names over
	harsh *harshness

	runtime runtimeKind
	agreed  map[string]time.Time    // when the last plugin approved a container
	made    map[string]bool         // containers that the runtime has or had
	between map[string][]*simPlugin // plugins that connected while moby had a container that it had neither asked for nor listed
}

// A simPod is a pod in the runtime's store, which outlives the runtime.
type simPod struct {
	stopping bool // its Stop is or was under way
	stopped  bool // and has ended
	removed  bool // its Remove was sent, though the removal may have failed

	witnesses []*simPlugin // plugins that were connected when it became Ready
}

type simContainer struct {
	pod     string
	exited  bool
	running bool
	removed bool // as for a pod
}

// A process is one run of the runtime, until it is killed.
type process struct {
	w         *world
	engine    *Engine
	ctx       context.Context // of the process itself
	kill      context.CancelFunc
	transient map[string]bool // the pods in creation; guarded by world.mu
	listing   time.Duration   // how long half a list takes; likewise
	lists     time.Duration   // the longest time that a list took; likewise
	lock      *lock
	listed    []map[ledger.ID]bool // what each list had; guarded by world.mu
	ops       sync.WaitGroup
	joins     sync.WaitGroup       // also those that may wait for ever
	callers   []context.CancelFunc // of the operations that have begun
}

// A simPlugin is a plugin with a temper.
type simPlugin struct {
	*plugin
	process *process
	prompt  bool // always answers at once
	shared  bool // others have the same name

	permanent, lone bool   // see manner
	forgot          bool   // the engine may have forgotten its name before it was synchronized; guarded by world.mu
	origin          string // likewise
	waits           sync.Once
	unheard         int // its last reply for which no caller waited; guarded by harshness.mu

	handed  handed
	reason  error // why it disconnected, nil while it is connected; guarded by world.mu
	came    time.Time
	listing time.Duration

	// Guarded by world.mu.
	joined  time.Time          // when Join returned without error
	overdue time.Time          // when it last did not answer in time
	skips   []time.Time        // all such times
	passed  map[ledger.ID]bool // objects for which it was not asked

	mask     string
	answered []Event  // guarded by mu
	cut      bool     // whether a request was cut before it was answered; likewise
	found    []string // what a runtime that started after it had connected found; likewise
}

// A duty is a rule that a plugin seemed to break. At rest it counts as broken, unless the plugin
// has disconnected or the missing event has come.
type duty struct {
	plugin *simPlugin
	broken string
	met    func() bool // nil for never
}

const worldBacklog = 5

func newWorld(s setup) *world {
	w := &world{keeps: s.keeps, hands: s.hands, runtime: s.runtime, harsh: s.harsh, pods: make(map[string]*simPod), containers: make(map[string]*simContainer), needs: make(map[ledger.ID]*need)}
	w.memory, w.lost, w.over = newMemory(), make(map[string]bool), make(map[string]bool)
	w.duplicates, w.abandoned = make(map[string]bool), make(map[string]bool)
	w.agreed, w.made, w.between = make(map[string]time.Time), make(map[string]bool), make(map[string][]*simPlugin)
	w.start()
	return w
}

// start starts the runtime.
func (w *world) start() {
	p := &process{w: w, transient: make(map[string]bool), lock: newLock()}
	p.ctx, p.kill = context.WithCancel(context.Background())
	opts := Options{
		RequestTimeout: func() time.Duration { return requestTimeout },
		SyncTimeout:    func() time.Duration { return syncTimeout },
		BacklogLimit:   worldBacklog,
		Required:       p.required,
		List:           p.list,
		Observer:       p,
	}
	if w.keeps {
		opts.MissedEvents = w.memory
	}
	opts.HandOver = func(Connection) bool { return w.hands }
	w.harsh.worsen(p, &opts)
	p.engine = New(opts)
	w.process = p
	p.recall(p.ctx)
}

// restart ends the runtime and starts it again: the store stays as it is.
func (w *world) restart(killed bool) {
	p := w.process
	w.mu.Lock()
	p.kill()
	kept := w.outlive(true)
	w.mu.Unlock()
	p.engine.Close()
	p.ops.Wait()
	p.joins.Wait()
	if !killed {
		kept = w.outlive(false)
	}
	w.memory = kept
	w.mu.Lock()
	w.survive()
	for _, pod := range w.pods {
		pod.stopping = pod.stopped
	}
	w.mu.Unlock()
	w.start()
}

func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// op starts an operation whose caller may cancel, and does so after patience if that is not zero.
func (p *process) op(patience time.Duration, f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(p.ctx)
	if patience > 0 {
		ctx, cancel = context.WithTimeout(p.ctx, patience)
	}
	p.callers = append(p.callers, cancel)
	p.ops.Go(func() {
		defer cancel()
		f(ctx)
	})
}

// do changes the runtime's stores, unless the runtime was killed meanwhile.
func (p *process) do(f func()) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	f()
	return true
}

// pause lets time pass in an operation.
func pause(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask sends an event that plugins may reject.
func (p *process) ask(ctx context.Context, name string) (err error) {
	defer p.locked(asking)()
	ev, start, last := p.w.harsh.asked(name), time.Now(), ""
	absent := map[string]bool{}
	if n := p.need(ev.ID()); n != nil && ev.Kind.First() {
		for _, name := range n.plugins {
			absent[name] = p.absent(name)
		}
		defer func() { p.heldTo(ev, start, absent, err) }()
	}
	err = p.engine.Ask(ctx, ev, func(c Connection, reply any) error {
		p.w.harsh.hear(p.w, reply, false)
		if !ev.Kind.First() && c.Index() < last {
			p.w.fault("L1: %s sent to %s after one of index %s", name, c.Name(), last)
		}
		last = c.Index()
		return nil
	})
	if at, ok := ctx.Deadline(); ok && start.Before(at) && time.Now().After(at) && p.w.timed() {
		p.w.fault("L13: %s kept its caller %s longer than it wanted to wait", name, time.Since(at))
	}
	p.took("L14", name, start, 0, 1<<ev.Kind)
	return err
}

// end tears down, whether or not the caller has canceled.
func (p *process) end(ctx context.Context, names ...string) error {
	defer p.locked(ending)()
	var evs []Event
	for _, name := range names {
		evs = append(evs, p.w.harsh.asked(name))
	}
	start := time.Now()
	err := p.engine.Teardown(ctx, evs, p.w.harsh.apply(p.w))
	p.mayFail(err)
	p.isOver(evs)
	var kinds ledger.Kinds
	for _, ev := range evs {
		kinds |= ev.Kind.Brings()
	}
	p.took("L9", names[len(names)-1], start, requestTimeout, kinds)
	if last := evs[len(evs)-1]; time.Since(start) < requestTimeout {
		for _, who := range p.w.here() {
			if who.busyWith(last) && who.waitedFor(start) {
				p.do(func() {
					p.w.duties = append(p.w.duties, duty{who, fmt.Sprintf("L10: was still in %s when the teardown went on", record{Event: last}), who.wasOverdue(start, time.Now())})
				})
			}
		}
	}
	return err
}

// list is the runtime's list: objects in creation come before complete ones.
func (p *process) list(ctx context.Context) (s Snapshot, err error) {
	defer p.locked(listing)()
	defer func() { p.keepList(s) }()
	return p.halves(ctx, false, false), nil
}

// halves lists in two halves: objects in creation, marked as such if creating is set, then
// complete ones. If twice is set, the first half has the containers, too. They may exit before
// the second.
func (p *process) halves(ctx context.Context, creating, twice bool) (s Snapshot) {
	w := p.w
	w.mu.Lock()
	takes := p.listing
	for _, id := range slices.Sorted(maps.Keys(p.transient)) {
		s.Pods = append(s.Pods, Object{Pod: id, Creating: creating})
	}
	if twice {
		s.Containers = w.running()
	}
	w.mu.Unlock()
	pause(ctx, takes)
	defer pause(ctx, takes)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(w.pods)) {
		s.Pods = append(s.Pods, Object{Pod: id, Stopped: w.pods[id].stopped})
	}
	s.Containers = append(s.Containers, w.running()...)
	for _, id := range slices.Sorted(maps.Keys(w.containers)) {
		if c := w.containers[id]; c.exited {
			s.Exited = append(s.Exited, Object{Pod: c.pod, Container: id})
		}
	}
	return s
}

// listTime is how long a plugin may wait for its list: for the end of the list under way, and for
// its own.
func (p *process) listTime() time.Duration {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return 2 * p.lists
}

// received notes that each connected plugin must have received an object, and returns these
// plugins. world.mu is held.
func (w *world) received(pod, container string) []*simPlugin {
	ev := Event{Kind: RunPodSandbox, Pod: pod, Container: container}
	if container != "" {
		ev.Kind = CreateContainer
	}
	sealed := time.Now()
	if container != "" {
		sealed = w.agreed[container]
	}
	here := w.present()
	for _, p := range here {
		if p.wants(ev.Kind) && !p.passed[ev.ID()] && !w.late(p, ev.ID()) && p.joined.Before(sealed) && !p.knows(pod, container) {
			w.duties = append(w.duties, duty{p, fmt.Sprintf("L2: did not receive %s in time", record{Event: ev}), nil})
		}
	}
	return here
}

// waitedFor reports whether a teardown that began at start had to wait for the plugin: it was
// connected and not overdue. The observer sees a timeout only after the callers have gone on.
func (p *simPlugin) waitedFor(start time.Time) bool {
	w := p.process.w
	w.mu.Lock()
	defer w.mu.Unlock()
	return p.joined.Before(start) && p.overdue.Before(start.Add(-2*p.requestTime()))
}

// witnessed notes that plugins that saw a pod Ready must receive its end.
func (p *process) witnessed(ev Event) {
	p.do(func() {
		if sb := p.w.pods[ev.Pod]; sb != nil {
			for _, who := range sb.witnesses {
				if who.wants(ev.Kind) {
					// A plugin that was skipped and never received the pod does not receive its
					// end either.
					met := func() bool {
						return who.had(ev) || (who.passed[ledger.ID{Pod: ev.Pod}] || p.w.late(who, ledger.ID{Pod: ev.Pod})) && !who.knows(ev.Pod, "")
					}
					p.w.duties = append(p.w.duties, duty{who, fmt.Sprintf("L9: never received %s", record{Event: ev}), met})
				}
			}
		}
	})
}

// late reports whether a plugin may have connected too late to be asked for an object, which no
// observer notes, and may have received nothing until that had ended: it was overdue, or the
// observer delayed its join. world.mu is held, or all is at rest.
func (w *world) late(who *simPlugin, o ledger.ID) bool {
	n := w.needs[o]
	return n != nil && !who.joined.Before(n.since) && (len(who.skips) > 0 || !w.timed())
}

// knows reports whether the plugin received an object.
func (p *simPlugin) knows(pod, container string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := read(p.history, p.wants)
	if container != "" {
		return r.containers[container] != nil
	}
	return r.pods[pod] != nil
}

// Deliver implements Connection. It checks what a plugin may rely on in its handler.
func (p *simPlugin) Deliver(ctx context.Context, ev Event, due time.Time, answer func(any, error)) {
	w := p.process.w
	w.mu.Lock()
	if sb := w.pods[ev.Pod]; sb != nil && sb.stopped && ev.Kind == StopPodSandbox && p.prompt && (!w.hands || !p.shared) && p.process.lists == 0 && !p.joined.IsZero() && p.joined.Before(time.Now()) {
		w.duties = append(w.duties, duty{p, fmt.Sprintf("L10: receives %s when all is reclaimed", record{Event: ev}), nil})
	}
	if at, agreed := w.agreed[ev.Container]; agreed && ev.Late && ev.Kind == CreateContainer && !w.made[ev.Container] && p.came.After(at) {
		w.faults = append(w.faults, fmt.Sprintf("L2: %s receives %s, which the runtime does not have", p.name, record{Event: ev}))
	}
	w.mu.Unlock()
	w.harsh.sees(p, ev)
	p.plugin.Deliver(ctx, ev, due, p.answers(ev, answer))
}

// join brings in a plugin.
func (w *world) join(p *simPlugin) {
	p.process, p.came = w.process, time.Now()
	p.wants = w.runtime.has(p.wants)
	w.mu.Lock()
	for _, o := range w.plugins {
		if o.name == p.name && o.process == p.process && !o.isClosed() {
			w.duplicates[p.name] = w.duplicates[p.name] || !w.hands || p.lone || o.lone
		}
	}
	w.plugins = append(w.plugins, p)
	p.process.listing = p.listing
	p.process.lists = max(p.process.lists, w.harsh.listTime()+2*p.listing)
	w.mu.Unlock()
	p.process.ops.Add(1)
	p.process.joins.Go(func() {
		defer p.stopWaiting()
		start := time.Now()
		err := p.process.engine.Join(p.process.ctx, p, p.synchronized)
		w.mu.Lock()
		if err == nil && p.process.ctx.Err() == nil { // else the runtime was killed before it knew
			p.joined = time.Now()
		}
		w.mu.Unlock()
		lists := p.process.listTime()
		if d := time.Since(start); w.runtime == patched && w.timed() && (!w.hands || !p.shared) && (p.prompt && d > lists || d > p.syncTime()+lists) {
			w.fault("L13: the join of %s took %s", p.name, d)
		}
	})
}
