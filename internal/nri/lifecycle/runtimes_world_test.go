// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// How other runtimes than the patched containerd behave in a world.

// TestContractOfOtherRuntimes is TestContract with runtimes that tell the engine less than
// containerd does with the series.
func TestContractOfOtherRuntimes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := setup{runtime: rapid.SampledFrom(runtimeKinds[1:]).Draw(rt, "runtime"), hands: rapid.Bool().Draw(rt, "hands")}
		if faults := play(t, s, drawMoves(rt, drawOrdinary, nil)); faults != "" {
			rt.Fatal(faults)
		}
	})
}

// has returns the events that plugins can want of a runtime: moby runs no pods.
func (k runtimeKind) has(wants func(Kind) bool) func(Kind) bool {
	if k != moby {
		return wants
	}
	return func(k Kind) bool { return k != RunPodSandbox && wants(k) }
}

// A use is the reason for which a runtime takes its own lock.
type use int

const (
	asking use = iota
	ending
	listing
)

// locked takes the lock of the runtime, and returns a function that unlocks it.
func (p *process) locked(u use) (unlock func()) {
	switch p.w.runtime {
	case crio:
		return p.lock.take(true)
	case moby:
		return p.lock.take(u == listing)
	}
	return func() {}
}

// A lock has many readers or one writer. Writers go first, as in package sync. Waiting for it
// lets the time of a bubble pass.
type lock struct {
	change  *sync.Cond
	readers int
	writers int // writers that hold it or wait for it
	writes  bool
}

func newLock() *lock { return &lock{change: sync.NewCond(&sync.Mutex{})} }

func (l *lock) take(write bool) (unlock func()) {
	l.change.L.Lock()
	defer l.change.L.Unlock()
	if !write {
		for l.writers > 0 {
			l.change.Wait()
		}
		l.readers++
		return func() { l.give(func() { l.readers-- }) }
	}
	l.writers++
	for l.writes || l.readers > 0 {
		l.change.Wait()
	}
	l.writes = true
	return func() { l.give(func() { l.writes, l.writers = false, l.writers-1 }) }
}

func (l *lock) give(back func()) {
	l.change.L.Lock()
	defer l.change.L.Unlock()
	back()
	l.change.Broadcast()
}

// create creates a container as moby does. A failure after all plugins have approved leaves no
// trace.
func (p *process) create(ctx context.Context, id string, c course) {
	if p.ask(ctx, "CreateContainer:"+id+"/"+id) != nil {
		return
	}
	p.do(func() { p.w.agreed[id] = time.Now() })
	if pause(ctx, c.after) != nil || c.fails {
		return
	}
	p.do(func() {
		p.w.pods[id], p.w.containers[id], p.w.made[id] = &simPod{}, &simContainer{pod: id}, true
		for _, who := range p.w.plugins {
			if !who.came.Before(p.w.agreed[id].Add(-2*p.lists)) && !who.knows(id, id) {
				p.w.between[id] = append(p.w.between[id], who)
			}
		}
		p.w.received(id, id)
	})
}

// drop removes a container as moby does.
func (p *process) drop(id string) {
	p.do(func() {
		delete(p.w.pods, id)
		delete(p.w.containers, id)
	})
}

// letVanish lets the engine see which objects the runtime no longer lists.
func (w *world) letVanish() {
	for range 2 {
		p := temper{wants: "ends"}.plugin("98-lister")
		p.shared = true
		w.join(p)
		w.settle()
		p.Close()
		time.Sleep(vanishes)
	}
	w.settle()
}

// mayFail holds the error of a teardown against the policies of the plugins.
func (p *process) mayFail(err error) {
	all, _ := err.(interface{ Unwrap() []error })
	if all == nil {
		return
	}
	for _, err := range all.Unwrap() {
		var failed *Error
		if errors.As(err, &failed) && failed.Failure != Rejection && !failed.Conn.Policy().FailRequest {
			p.w.fault("L8: %v, which by the plugin's policy is no error", err)
		}
	}
}

// keepList keeps the objects of a list.
func (p *process) keepList(s Snapshot) {
	had := make(map[ledger.ID]bool)
	for _, o := range slices.Concat(s.Pods, s.Containers, s.Exited) {
		had[o.ID()] = true
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.listed = append(p.listed, had)
}

// synchronized checks that the runtime has listed everything that Synchronize has.
func (p *simPlugin) synchronized(ctx context.Context, s Snapshot) error {
	w := p.process.w
	w.mu.Lock()
	if !slices.ContainsFunc(p.process.listed, func(had map[ledger.ID]bool) bool {
		return !slices.ContainsFunc(slices.Concat(s.Pods, s.Containers), func(o Object) bool { return !had[o.ID()] })
	}) {
		w.faults = append(w.faults, fmt.Sprintf("L2: %s is synchronized with what no list has: %v", p.name, s))
	}
	w.mu.Unlock()
	return p.sync(ctx, s)
}
