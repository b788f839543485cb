// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/containerd/log"
	"golang.org/x/sync/errgroup"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

const (
	joiners  = 10 // plugins that join at once
	flappers = 5  // of these, plugins that disconnect and reconnect

	flapping = 10 * time.Second // how long they flap
	flapEach = time.Second      // a plugin disconnects once in that time, unless it is still reconnecting
	calm     = 3 * time.Second  // how long containerd is measured, before and after
)

// flapRows are the figures of flap.
type flapRows struct{ join, pod, returns, memory, memoryAfter, goroutines, goroutinesAfter Row }

// flap measures the cost of plugins that join a full node at once, half of them flapping
// afterwards: for others, by the time of joins and pods, and for containerd, by what it keeps
// afterwards (L22).
func (b *bench) flap(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.filled(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	if err := p.both(func(s *side) error { return s.warm(ctx) }); err != nil {
		return nil, err
	}
	// ttrpc logs each request that a plugin does not answer because it disconnects.
	level := log.GetLevel()
	defer func() { retErr = errors.Join(retErr, log.SetLevel(level)) }()
	if err := log.SetLevel(log.FatalLevel); err != nil {
		return nil, err
	}
	rows := newFlapRows(b.Counts.NodePods)
	if err := b.rounds(p, func(_ int, s *side) error { return s.flap(ctx, rows) }); err != nil {
		return nil, err
	}
	return rows.withGoals(), nil
}

func newFlapRows(pods int) *flapRows {
	full, flap := fmt.Sprintf("%d pods", pods), fmt.Sprintf("%d of %d plugins flap for %s", flappers, joiners, flapping)
	name := func(name, of string) string { return fmt.Sprintf("%s/%s/pods=%d", name, of, pods) }
	return &flapRows{
		join:    Row{What: fmt.Sprintf("Slowest of %d plugins that join at once, %s", joiners, full), Name: name("SlowestJoin", fmt.Sprintf("plugins=%d", joiners)), Unit: "sec/op"},
		pod:     Row{What: fmt.Sprintf("Slowest RunPodSandbox while %s, %s", flap, full), Name: name("SlowestRunPodSandbox", fmt.Sprintf("flapping=%d", flappers)), Unit: "sec/op"},
		returns: Row{What: "Joins per second meanwhile", Name: name("Joins", fmt.Sprintf("flapping=%d", flappers)), Unit: "joins/sec"},

		memory:          Row{What: "Resident memory of containerd before", Name: name("Memory", "flapping=before"), Unit: "B"},
		memoryAfter:     Row{What: "Resident memory of containerd after", Name: name("Memory", "flapping=after"), Unit: "B"},
		goroutines:      Row{What: "Goroutines of containerd before", Name: name("Goroutines", "flapping=before"), Unit: "goroutines"},
		goroutinesAfter: Row{What: "Goroutines of containerd after", Name: name("Goroutines", "flapping=after"), Unit: "goroutines"},
	}
}

// withGoals returns the rows in the order of the table, with their goals.
func (r *flapRows) withGoals() []Row {
	r.join.Goals = []Goal{ratioAtMost(1, r.join.Patched, r.join.Stock, "stock")}
	r.pod.Goals = []Goal{ratioAtMost(1, r.pod.Patched, r.pod.Stock, "stock")}
	r.memoryAfter.Goals = []Goal{ratioAtMost(1.1, r.memoryAfter.Patched, r.memory.Patched, "patched before")}
	r.goroutinesAfter.Goals = []Goal{ratioAtMost(1.1, r.goroutinesAfter.Patched, r.goroutines.Patched, "patched before")}
	return []Row{r.join, r.pod, r.returns, r.memory, r.memoryAfter, r.goroutines, r.goroutinesAfter}
}

// flap is one turn of a side. Both times that containerd is measured, all plugins are connected.
func (s *side) flap(ctx context.Context, rows *flapRows) error {
	defer s.disconnect()
	slowest, err := s.joinAtOnce(ctx)
	if err != nil {
		return err
	}
	rows.join.of(s).add(slowest)
	if err := s.measure(ctx, rows.memory.of(s), rows.goroutines.of(s)); err != nil {
		return err
	}
	if err := s.flapUnderPods(ctx, rows); err != nil {
		return err
	}
	return s.measure(ctx, rows.memoryAfter.of(s), rows.goroutinesAfter.of(s))
}

// joinAtOnce connects the plugins at once and returns the time of the slowest.
func (s *side) joinAtOnce(ctx context.Context) (time.Duration, error) {
	var took [joiners]time.Duration
	var group errgroup.Group
	for i := range took {
		p := plugin.New(fmt.Sprintf("%02d", i+1), "joiner")
		p.On(plugin.Synchronize, forget)
		s.plugins = append(s.plugins, p)
		group.Go(func() (err error) {
			took[i], err = timed(func() error { return p.Connect(ctx, s.NRISocket()) })
			return err
		})
	}
	err := group.Wait()
	return slices.Max(took[:]), err
}

// forget approves, and keeps the pods out of the plugin's record: after hundreds of joins they
// would slow down this process, and not containerd.
func forget(_ context.Context, call *plugin.Call) error {
	call.Pods, call.Containers = nil, nil
	return nil
}

// flapUnderPods makes half of the plugins flap while pods are run and removed one after the other.
// In the end all plugins are connected.
func (s *side) flapUnderPods(ctx context.Context, rows *flapRows) error {
	end := time.Now().Add(flapping)
	group, ctx := errgroup.WithContext(ctx)
	var joins atomic.Int64
	for _, p := range s.plugins[:flappers] {
		group.Go(func() error { return s.comeAndGo(ctx, p, end, &joins) })
	}
	var starts []time.Duration
	group.Go(func() error {
		for i := 0; time.Now().Before(end); i++ {
			took, err := s.live(ctx, fmt.Sprintf("among-%d", i))
			if err != nil {
				return err
			}
			starts = append(starts, took)
		}
		return nil
	})
	took, err := timed(group.Wait)
	if err != nil {
		return err
	}
	rows.pod.of(s).add(slices.Max(starts))
	*rows.returns.of(s) = append(*rows.returns.of(s), float64(joins.Load())/took.Seconds())
	return nil
}

// comeAndGo disconnects and reconnects a plugin until the end. Both sides have the same pace, so
// that the faster one does not have more joins: with 250 pods on a busy machine, a join takes
// stock longer than a fifth of a second.
func (s *side) comeAndGo(ctx context.Context, p *plugin.Plugin, end time.Time, joins *atomic.Int64) error {
	pace := time.NewTicker(flapEach)
	defer pace.Stop()
	for time.Now().Before(end) {
		p.Crash()
		if err := p.Connect(ctx, s.NRISocket()); err != nil {
			return err
		}
		joins.Add(1)
		<-pace.C
	}
	return nil
}

// measure takes the minimum of memory and goroutines of containerd in a while of calm, so without
// temporary ones.
func (s *side) measure(ctx context.Context, memory, goroutines *Sample) error {
	const readings = 10
	pace := time.NewTicker(calm / readings)
	defer pace.Stop()
	var bytes, count []int
	for range readings {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pace.C:
		}
		b, err := s.Memory(ctx)
		if err != nil {
			return err
		}
		c, err := s.GoroutineCount(ctx)
		if err != nil {
			return err
		}
		bytes, count = append(bytes, b), append(count, c)
	}
	*memory = append(*memory, float64(slices.Min(bytes)))
	*goroutines = append(*goroutines, float64(slices.Min(count)))
	return nil
}
