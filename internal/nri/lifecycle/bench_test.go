// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// An inert plugin answers at once.
type inert struct {
	index  string
	wants  func(Kind) bool
	closed chan struct{}
	timed  bool // whether it looks at its context, like an RPC
}

func (c *inert) Name() string            { return c.index + "-inert" }
func (c *inert) Index() string           { return c.index }
func (c *inert) Subscribed(k Kind) bool  { return c.wants(k) }
func (c *inert) Policy() Policy          { return Policy{} }
func (c *inert) Timeouts() Timeouts      { return Timeouts{} }
func (c *inert) Closed() <-chan struct{} { return c.closed }
func (c *inert) Close()                  {}

func (c *inert) Deliver(ctx context.Context, _ Event, _ time.Time, answer func(any, error)) {
	if c.timed {
		select {
		case <-ctx.Done():
			answer(nil, ctx.Err())
			return
		default:
		}
	}
	answer(nil, nil)
}

func benchEngine(b *testing.B, n int, conn inert, opts Options) *Engine {
	e := New(opts)
	b.Cleanup(e.Close)
	for i := range n {
		c := conn
		c.index, c.closed = fmt.Sprintf("%02d", i), make(chan struct{})
		err := e.Join(b.Context(), &c, func(context.Context, Snapshot) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	return e
}

func all(Kind) bool  { return true }
func none(Kind) bool { return false }

// BenchmarkAsk is the cost of one blocking event for ten plugins that answer at once.
func BenchmarkAsk(b *testing.B) {
	for _, bc := range []struct {
		name string
		n    int
		conn inert
	}{
		{"plugins=0", 0, inert{wants: all}},
		{"plugins=1", 1, inert{wants: all}},
		{"plugins=10", 10, inert{wants: all}},
		{"plugins=10/timed", 10, inert{wants: all, timed: true}},
		{"plugins=10/unsubscribed", 10, inert{wants: none}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			e := benchEngine(b, bc.n, bc.conn, Options{})
			ev := Event{Kind: RunPodSandbox, Pod: "p"}
			if err := e.Ask(b.Context(), ev, nil); err != nil {
				b.Fatal(err)
			}
			ev.Kind = UpdatePodSandbox
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if err := e.Ask(ctx, ev, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLife is the cost, by event, of all events of a pod with one container, from Run to
// Remove, for ten plugins that answer at once. All plugins receive an end at the same time, so
// each has a goroutine.
func BenchmarkLife(b *testing.B) {
	var asks, ends []Event
	for _, name := range []string{
		"RunPodSandbox:p", "CreateContainer:p/c", "PostCreateContainer:p/c", "StartContainer:p/c", "PostStartContainer:p/c",
		"StopContainer:p/c", "RemoveContainer:p/c", "StopPodSandbox:p", "RemovePodSandbox:p",
	} {
		if ev := event(name); ev.Kind.Final() {
			ends = append(ends, ev)
		} else {
			asks = append(asks, ev)
		}
	}
	for _, bc := range []struct {
		name string
		conn inert
		opts Options
	}{
		{"plugins=10", inert{wants: all}, Options{}},
		{"plugins=10/unsubscribed", inert{wants: none}, Options{}},
		{"plugins=10/missed", inert{wants: all}, Options{MissedEvents: newMemory()}}, // nothing is missed: all are connected
	} {
		b.Run(bc.name, func(b *testing.B) {
			e := benchEngine(b, 10, bc.conn, bc.opts)
			ctx := b.Context()
			var asking, ending time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				for _, ev := range asks {
					if err := e.Ask(ctx, ev, nil); err != nil {
						b.Fatal(err)
					}
				}
				asked := time.Now()
				for i := range ends {
					if err := e.Teardown(ctx, ends[i:i+1], nil); err != nil {
						b.Fatal(err)
					}
				}
				asking += asked.Sub(start)
				ending += time.Since(asked)
			}
			b.ReportMetric(float64(asking.Nanoseconds())/float64(b.N*len(asks)), "ns/ask")
			b.ReportMetric(float64(ending.Nanoseconds())/float64(b.N*len(ends)), "ns/teardown")
		})
	}
}

// BenchmarkLedger reports the memory of one pod with two containers in the ledger of one
// connection.
func BenchmarkLedger(b *testing.B) {
	const pods = 5000
	ids := make([][3]string, pods)
	for i := range ids {
		for j := range ids[i] {
			ids[i][j] = fmt.Sprintf("%064d", 3*i+j)
		}
	}
	size := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var bytes uint64
	for b.Loop() {
		before := size()
		g := ledger.New()
		for _, id := range ids {
			g.Admit(Event{Kind: RunPodSandbox, Pod: id[0]})
			g.Admit(Event{Kind: CreateContainer, Pod: id[0], Container: id[1]})
			g.Admit(Event{Kind: CreateContainer, Pod: id[0], Container: id[2]})
		}
		bytes = size() - before
		runtime.KeepAlive(g)
	}
	b.ReportMetric(float64(bytes)/pods, "B/pod")
}
