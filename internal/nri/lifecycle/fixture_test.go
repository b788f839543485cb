// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// event reads an event such as "RunPodSandbox:p1" or "StopContainer:p1/c1".
func event(s string) Event {
	kind, id, _ := strings.Cut(s, ":")
	ev := Event{Kind: ledger.KindOf(kind)}
	ev.Pod, ev.Container, _ = strings.Cut(id, "/")
	return ev
}

// eventName is the name of an event, as event takes it.
func eventName(ev Event) string {
	if ev.Container != "" {
		return ev.Kind.String() + ":" + ev.Pod + "/" + ev.Container
	}
	return ev.Kind.String() + ":" + ev.Pod
}

func pods(ids ...string) []Object {
	var objects []Object
	for _, id := range ids {
		objects = append(objects, Object{Pod: id})
	}
	return objects
}

// A journal is an observer that keeps everything.
type journal struct {
	mu         sync.Mutex // guards the fields below
	deliveries []Delivery
	joined     []string
	recovered  []string
	awaited    []string
	rejected   []*Unmet
	left       map[string]error
}

func (j *journal) Delivered(d Delivery) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.deliveries = append(j.deliveries, d)
}

func (j *journal) Recovered(c Connection, ev Event, took time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.recovered = append(j.recovered, fmt.Sprintf("%s %s %s", c.Name(), record{Event: ev}, took))
}

func (j *journal) Joined(c Connection, _ time.Duration, pods, containers int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.joined = append(j.joined, fmt.Sprintf("%s %d %d", c.Name(), pods, containers))
}

func (j *journal) Awaited(ev Event, plugin string, waited time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.awaited = append(j.awaited, fmt.Sprintf("%s %s %s", record{Event: ev}, plugin, waited))
}

func (j *journal) Rejected(u *Unmet) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rejected = append(j.rejected, u)
}

func (j *journal) Left(c Connection, reason error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.left == nil {
		j.left = make(map[string]error)
	}
	j.left[c.Name()] = reason
}

func (j *journal) reason(name string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.left[name]
}

// outcomes returns the outcomes of the events of a kind, such as "10-a answered, 20-b timed out
// late".
func (j *journal) outcomes(k Kind) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var words []string
	for _, d := range j.deliveries {
		if d.Event.Kind != k {
			continue
		}
		w := d.Conn.Name() + " " + d.Outcome.String()
		if d.Late {
			w += " late"
		}
		words = append(words, w)
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// A fixture is an engine with the list of a runtime.
type fixture struct {
	*Engine
	t       *testing.T
	journal journal
	listed  Snapshot
}

func newFixture(t *testing.T, change ...func(*Options)) *fixture {
	f := &fixture{t: t}
	opts := Options{
		RequestTimeout: func() time.Duration { return requestTimeout },
		SyncTimeout:    func() time.Duration { return syncTimeout },
		Observer:       &f.journal,
		List:           f.list,
	}
	for _, c := range change {
		c(&opts)
	}
	f.Engine = New(opts)
	t.Cleanup(f.Close)
	return f
}

func (f *fixture) list(context.Context) (Snapshot, error) { return f.listed, nil }

func (f *fixture) join(p *plugin) error {
	return f.Join(f.t.Context(), p, p.sync)
}

// joined connects plugins.
func (f *fixture) joined(plugins ...*plugin) {
	f.t.Helper()
	for _, p := range plugins {
		if err := f.join(p); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *fixture) ask(ctx context.Context, ev string) error {
	return f.Ask(ctx, event(ev), nil)
}

// did sends events that all plugins must approve.
func (f *fixture) did(events ...string) {
	f.t.Helper()
	for _, ev := range events {
		if err := f.ask(f.t.Context(), ev); err != nil {
			f.t.Fatal(err)
		}
	}
}

func events(names []string) (evs []Event) {
	for _, ev := range names {
		evs = append(evs, event(ev))
	}
	return evs
}

// butForTheUndo is how long a first event takes at most if its caller has little time: a quarter
// of that time is kept back.
func butForTheUndo(patience time.Duration) time.Duration { return patience - patience/4 }

// end tears down, with all events in one teardown.
func (f *fixture) end(names ...string) error {
	return f.Teardown(f.t.Context(), events(names), nil)
}

// removeOthers removes enough other pods for the engine to forget what was removed before.
func (f *fixture) removeOthers() {
	f.t.Helper()
	for i := range remembered {
		if err := f.end(fmt.Sprintf("RemovePodSandbox:other%d", i)); err != nil {
			f.t.Fatal(err)
		}
	}
}
