// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"time"
)

// An Object is a pod or a container as the runtime lists it.
type Object struct {
	Pod       string
	Container string // empty for a pod
	// Stopped says of a pod that its StopPodSandbox was over before this
	// runtime started, or otherwise without the engine: the connection is told
	// of it and gets only its Remove.
	Stopped bool
	// Creating says of a pod that the runtime has not made it ready yet.
	Creating bool
	// Value is for the sync function of Join alone. For a container that the
	// runtime does not list yet, it is the Request of its CreateContainer.
	Value any
}

// A Snapshot is what is there at some moment.
type Snapshot struct {
	Pods       []Object
	Containers []Object
}

// Join brings in a connection and returns once its plugin was synchronized.
// From the first moment on it takes part in every event; what comes while it
// is being synchronized waits in its lane, and nobody else waits for it (L13).
//
// list is called first, and must return every pod, those included that are
// being created, and every container that is created or running. The runtime
// reads what is under way before what is complete, so that nothing falls
// between the two; an object may be in both. Objects whose Remove it has handed
// in may be in the list or not.
//
// sync then sends what list returned, corrected by what the engine knows, to
// the plugin, in as many messages as it likes; ctx ends with the sync timeout.
// What the plugin asks for in its reply is done when Join has returned: while
// sync runs, the plugin gets no events, and a Teardown would wait for it.
//
// If Join fails, the connection is closed, and those who waited for its answer
// go on as if it had never come.
func (e *Engine) Join(ctx context.Context, conn Connection, list func(context.Context) (Snapshot, error), sync func(context.Context, Snapshot) error) error {
	l, b, err := e.enroll(conn)
	if err != nil {
		conn.Close()
		return fmt.Errorf("synchronize plugin %s: %w", conn.Name(), err)
	}
	snapshot, err := e.synchronize(ctx, l, b, list, sync)
	if err != nil {
		err = fmt.Errorf("synchronize plugin %s: %w", conn.Name(), err)
		e.drop(l, err)
		return err
	}
	l.mu.Lock()
	l.leave()
	e.opts.Observer.Joined(conn, time.Since(l.since), len(snapshot.Pods), len(snapshot.Containers))
	return nil
}

// A past is what the engine knew when a connection came in: what had happened
// until then is not in its lane, and what came after is.
type past struct {
	creations []Event // of containers that the runtime may not list yet
	endings   endings
	omit      bool            // Options.OmitCreating
	agreed    map[string]bool // pods that the connection will not be asked for
}

// enroll adds a connection to those that take part, its turn taken, and
// captures what was before, in one instant.
func (e *Engine) enroll(conn Connection) (*lane, past, error) {
	l := &lane{
		engine:  e,
		conn:    conn,
		name:    conn.Name(),
		index:   conn.Index(),
		gone:    make(chan struct{}),
		since:   time.Now(),
		held:    true,
		ledger:  newLedger(),
		current: Event{Kind: Synchronize},
		started: time.Now(),
	}
	for k := Synchronize; k < kinds; k++ {
		if conn.Subscribed(k) {
			l.wants |= 1 << k
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, past{}, ErrClosed
	}
	e.joins++
	l.seq = e.joins
	e.lanes = insert(e.lanes, l)
	b := past{endings: e.endings.clone(), omit: e.opts.OmitCreating, agreed: maps.Clone(e.agreed)}
	for _, c := range e.creations {
		if c.sealed {
			b.creations = append(b.creations, c.event)
		}
	}
	e.watchers.Add(1)
	go e.watch(l)
	return l, b, nil
}

// synchronize lists, sends, and seeds the ledger.
func (e *Engine) synchronize(ctx context.Context, l *lane, b past, list func(context.Context) (Snapshot, error), sync func(context.Context, Snapshot) error) (Snapshot, error) {
	// The list has its share of the time: a runtime that cannot list, as one
	// that waits for a pod operation that waits for this connection, must not
	// hold up either for good.
	timeout := e.opts.SyncTimeout()
	bound := &deadline{Context: ctx, at: time.Now().Add(timeout)}
	defer bound.end()
	l.mu.Lock()
	l.bound = bound
	closed := l.closed
	l.mu.Unlock()
	if closed != nil {
		return Snapshot{}, closed
	}
	listed, err := list(bound)
	if err != nil {
		return Snapshot{}, err
	}
	e.sweep(b.endings, listed)
	snapshot := b.correct(listed)

	err = sync(bound, snapshot)
	if err != nil && ctx.Err() == nil && !time.Now().Before(bound.at) {
		err = fmt.Errorf("no answer within %s: %w", timeout, also(err, context.DeadlineExceeded))
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	l.current, l.bound = Event{}, nil
	switch {
	case l.closed != nil:
		return Snapshot{}, l.closed
	case err != nil:
		return Snapshot{}, err
	}
	l.joined = true
	l.ledger.seed(snapshot)
	return snapshot, nil
}

// correct makes of what the runtime lists what the connection is to be told:
// with containers that are in the runtime's hands on their way to its list,
// without objects that have had their last event, and each once.
func (b past) correct(listed Snapshot) Snapshot {
	var s Snapshot
	seen := make(map[object]int, len(listed.Pods)+len(listed.Containers))
	for _, p := range listed.Pods {
		ph := b.endings.phase(object{pod: p.Pod})
		if ph == leaving {
			continue
		}
		if b.omit && p.Creating && !b.agreed[p.Pod] {
			continue // it comes with its first event, if that comes
		}
		p.Stopped = p.Stopped || ph == ended
		if i, twice := seen[object{pod: p.Pod}]; twice {
			s.Pods[i] = p // the later one was read later
			continue
		}
		seen[object{pod: p.Pod}] = len(s.Pods)
		s.Pods = append(s.Pods, p)
	}
	add := func(c Object) {
		o := object{c.Pod, c.Container}
		if b.endings.phase(o) != alive {
			return
		}
		if i, twice := seen[o]; twice {
			s.Containers[i] = c
			return
		}
		seen[o] = len(s.Containers)
		s.Containers = append(s.Containers, c)
	}
	for _, ev := range b.creations {
		add(Object{Pod: ev.Pod, Container: ev.Container, Value: ev.Request})
	}
	for _, c := range listed.Containers {
		add(c)
	}
	return s
}

// sweep forgets the ends of pods that have left the runtime's lists: those for
// which it did not say so, and those that were handed in after it did, such as
// that of a container whose exit was noticed late.
func (e *Engine) sweep(known endings, listed Snapshot) {
	there := make(map[string]bool, len(listed.Pods))
	for _, p := range listed.Pods {
		there[p.Pod] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for pod := range known {
		if !there[pod] {
			delete(e.endings, pod)
		}
	}
}
