// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"time"

	"github.com/hookline-nri/hookline/integration/bench/programs"
)

// Breakdown is where the time of calls of one kind went, with a number of them at a time.
type Breakdown struct {
	Call    string
	Runtime string // "stock" or "patched"
	AtOnce  int

	Calls    Sample // the time of each
	None     Sample // the part of it without a running program that it had started
	Programs []Share
	Waits    Share // for the disk, of containerd and of programs that it started
}

// Share is the part of one program in the calls.
type Share struct {
	Name    string
	Started int           // in all of the calls
	Took    Sample        // from its start to its exit, of programs that exited before the calls ended
	CPU     time.Duration // in all of the calls
	since   time.Duration // the sum of the times from the start of its call to its own start
}

// breakDown sums batches of the same kind.
func breakDown(batches []*batch, trace *programs.Trace) []Breakdown {
	var all []Breakdown
	for _, b := range batches {
		i := slices.IndexFunc(all, func(of Breakdown) bool {
			return of.Call == b.call && of.Runtime == b.runtime && of.AtOnce == b.atOnce()
		})
		if i < 0 {
			i, all = len(all), append(all, Breakdown{Call: b.call, Runtime: b.runtime, AtOnce: b.atOnce()})
		}
		all[i].add(b, trace)
	}
	for _, of := range all {
		slices.SortStableFunc(of.Programs, func(a, b Share) int { return int(a.first() - b.first()) })
	}
	return all
}

// add adds a batch.
func (of *Breakdown) add(b *batch, trace *programs.Trace) {
	started := b.programs(trace)
	start, end := b.window()
	for _, p := range started {
		share := of.share(p.Name())
		share.Started++
		share.since += p.Start - start
		if p.Exited && p.End <= end {
			share.Took.add(p.End - p.Start)
		}
	}
	for _, c := range b.calls {
		of.Calls.add(c.end - c.start)
		of.None.add(c.without(started, b.atOnce() > 1))
	}
	for _, s := range within(trace.Samples, start, end, func(s programs.Sample) time.Duration { return s.At }) {
		if name, ok := b.of(s.Process, s.Program); ok {
			of.share(name).CPU += s.Took
		}
	}
	for _, w := range within(trace.Waits, start, end, func(w programs.Wait) time.Duration { return w.At }) {
		if _, ok := b.of(w.Process, w.Program); ok {
			of.Waits.Started++
			of.Waits.Took.add(w.Took)
		}
	}
}

func (of *Breakdown) share(name string) *Share {
	i := slices.IndexFunc(of.Programs, func(s Share) bool { return s.Name == name })
	if i < 0 {
		i, of.Programs = len(of.Programs), append(of.Programs, Share{Name: name})
	}
	return &of.Programs[i]
}

// first is how long after the start of the calls the program started, on average. Programs that ran
// before come first.
func (s Share) first() time.Duration {
	if s.Started == 0 {
		return -1
	}
	return s.since / time.Duration(s.Started)
}

// programs returns the programs that started in a batch, on its node.
func (b *batch) programs(trace *programs.Trace) (started []*programs.Program) {
	start, end := b.window()
	for _, p := range within(trace.Programs, start, end, func(p *programs.Program) time.Duration { return p.Start }) {
		if p.Below(b.folder) {
			started = append(started, p)
		}
	}
	return started
}

// of returns the name of the program that a process of the batch's node runs.
func (b *batch) of(process int, p *programs.Program) (name string, ok bool) {
	if process == b.containerd {
		return "containerd", true
	}
	if !p.Below(b.folder) {
		return "", false
	}
	return p.Name(), true
}

// within returns the events in a window of time. They are sorted.
func within[E any](events []E, start, end time.Duration, at func(E) time.Duration) []E {
	compare := func(e E, when time.Duration) int { return int(at(e) - when) }
	from, _ := slices.BinarySearchFunc(events, start, compare)
	to, _ := slices.BinarySearchFunc(events, end, compare)
	return events[from:to]
}

// without is how long no program ran that started in the call and exited before its end. The call
// does not wait for others, such as the shim. Of several concurrent calls each has its own
// programs.
func (c call) without(started []*programs.Program, several bool) time.Duration {
	left, past := c.end-c.start, c.start
	for _, p := range started { // in the order of their starts
		if !p.Exited || p.End > c.end || several && !p.For(c.ids...) {
			continue
		}
		if from := max(past, p.Start); from < p.End {
			left -= p.End - from
			past = p.End
		}
	}
	return left
}
