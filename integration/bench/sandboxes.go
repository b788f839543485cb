// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookline-nri/hookline/integration/peers"
	"github.com/hookline-nri/hookline/testkit/cri"
)

// afterCleanUp is how long the memory of pods is read: a shim frees unused memory each 30 s.
const afterCleanUp = 35 * time.Second

// sandboxRows are the figures of sandboxes.
type sandboxRows struct{ run, stop, remove, rate, memory Row }

// sandboxes measures the patched runtime's pods that have no pause container, beside stock's, which
// have one. CRI-O's default takes part if there is one.
func (b *bench) sandboxes(ctx context.Context) (_ []Row, retErr error) {
	b.Patched.WithoutPause = true
	defer func() { b.Patched.WithoutPause = false }()
	p, err := b.warmed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	crio, closeCRIO, err := b.peer(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, closeCRIO()) }()

	const kind = "without a pause container"
	rows := &sandboxRows{
		run:    Row{What: "RunPodSandbox " + kind, Name: "RunPodSandbox/pause=no", Unit: "sec/op"},
		stop:   Row{What: "StopPodSandbox " + kind, Name: "StopPodSandbox/pause=no", Unit: "sec/op"},
		remove: Row{What: "RemovePodSandbox " + kind, Name: "RemovePodSandbox/pause=no", Unit: "sec/op"},
		rate:   Row{What: fmt.Sprintf("Pods per second, %d at a time, %s", atOnce, kind), Name: "Rate/pause=no", Unit: "pods/sec"},
		memory: Row{What: fmt.Sprintf("Memory of the processes of a pod, of %d %s", residents, kind), Name: fmt.Sprintf("PodProcesses/pods=%d", residents), Unit: "B/pod"},
	}
	if err := b.sandboxCalls(ctx, p, crio, rows); err != nil {
		return nil, err
	}
	if err := b.sandboxRate(ctx, p, crio, rows); err != nil {
		return nil, err
	}
	if err := b.sandboxMemory(ctx, p, rows); err != nil {
		return nil, err
	}
	rows.setGoals()
	return []Row{rows.run, rows.stop, rows.remove, rows.rate, rows.memory}, nil
}

func (r *sandboxRows) setGoals() {
	r.run.Goals = []Goal{ratioAtMost(0.45, r.run.Patched, r.run.Stock, "stock")}
	r.rate.Goals = []Goal{ratioAtLeast(1.80, r.rate.Patched, r.rate.Stock, "stock")}
	r.memory.Goals = []Goal{ratioAtMost(0.50, r.memory.Patched, r.memory.Stock, "stock")}
	if of := r.rate.Peer; len(of) > 0 {
		r.rate.Goals = append(r.rate.Goals, ratioAtLeast(1, r.rate.Patched, of, "CRI-O's "+of.in(r.rate.Unit)))
	}
}

// peer starts CRI-O, if it takes part. Its client is nil otherwise.
func (b *bench) peer(ctx context.Context) (_ *cri.Client, end func() error, err error) {
	if b.CRIO == nil {
		return nil, func() error { return nil }, nil
	}
	defer b.step("start CRI-O")()
	c, err := peers.StartCRIO(ctx, *b.CRIO)
	if err != nil {
		return nil, nil, fmt.Errorf("start CRI-O: %w", err)
	}
	if _, err := lifeOf(ctx, c.CRI(), c.CRI().Pod("warm"), 0); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("CRI-O: %w", err), c.Close())
	}
	return c.CRI(), c.Close, nil
}

// sandboxCalls times the calls of a pod without containers, one pod at a time.
func (b *bench) sandboxCalls(ctx context.Context, p *pair, crio *cri.Client, rows *sandboxRows) error {
	defer b.step("%d pods of each, one at a time", b.Counts.Runs)()
	for turn := range b.Counts.Runs {
		err := p.turn(turn, func(s *side) error {
			return sandboxLife(ctx, s.CRI(), rows.run.of(s), rows.stop.of(s), rows.remove.of(s))
		})
		if err == nil && crio != nil {
			err = sandboxLife(ctx, crio, &rows.run.Peer, &rows.stop.Peer, &rows.remove.Peer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func sandboxLife(ctx context.Context, client *cri.Client, run, stop, remove *Sample) error {
	var id string
	for _, c := range []struct {
		sample *Sample
		call   func() error
	}{
		{run, func() (err error) { id, err = client.RunPod(ctx, client.Pod("pod")); return err }},
		{stop, func() error { return client.StopPod(ctx, id) }},
		{remove, func() error { return client.RemovePod(ctx, id) }},
	} {
		took, err := timed(c.call)
		if err != nil {
			return err
		}
		c.sample.add(took)
	}
	return nil
}

// sandboxRate measures how many pods are run, stopped and removed per second.
func (b *bench) sandboxRate(ctx context.Context, p *pair, crio *cri.Client, rows *sandboxRows) error {
	measure := func(client *cri.Client, sample *Sample) error {
		rate, err := rateOf(ctx, client, b.Counts.Pods, 0)
		*sample = append(*sample, rate)
		return err
	}
	return b.rounds(p, func(turn int, s *side) error {
		if err := measure(s.CRI(), rows.rate.of(s)); err != nil || crio == nil || s.name != stock {
			return err
		}
		return measure(crio, &rows.rate.Peer)
	})
}

// sandboxMemory measures the memory that belongs to the processes of a pod alone: its shim, and its
// pause container if it has one.
func (b *bench) sandboxMemory(ctx context.Context, p *pair, rows *sandboxRows) error {
	for turn := range b.Counts.Rounds {
		end := b.step("memory, round %d of %d", turn+1, b.Counts.Rounds)
		err := house(ctx, p, &rows.memory)
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// house runs pods on both sides, reads their memory, and removes them.
func house(ctx context.Context, p *pair, row *Row) error {
	pods := map[*side][]string{}
	if err := p.both(func(s *side) error {
		for i := range residents {
			id, err := s.CRI().RunPod(ctx, s.CRI().Pod(fmt.Sprintf("resident-%d", i)))
			if err != nil {
				return err
			}
			pods[s] = append(pods[s], id)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := smallest(ctx, p, row); err != nil {
		return err
	}
	return p.both(func(s *side) error {
		for _, id := range pods[s] {
			if err := s.end(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// smallest reads the memory of the pods of both sides for a while, and takes the minimum of each.
func smallest(ctx context.Context, p *pair, row *Row) error {
	found := map[*side]Sample{}
	pace, over := time.NewTicker(time.Second), time.After(afterCleanUp)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return p.both(func(s *side) error {
				*row.of(s) = append(*row.of(s), slices.Min(found[s]))
				return nil
			})
		case <-pace.C:
			if err := p.both(func(s *side) error {
				bytes, err := s.PodsMemory()
				found[s] = append(found[s], float64(bytes)/residents)
				return err
			}); err != nil {
				return err
			}
		}
	}
}
