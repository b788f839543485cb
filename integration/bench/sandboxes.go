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

// afterCleanUp is when the memory of pods is read: a shim returns unused memory each 30 s.
const afterCleanUp = 35 * time.Second

// sandboxRows are the figures of sandboxes.
type sandboxRows struct{ run, stop, remove, rate, memory Row }

// sandboxes measures the patched runtime's pods that have no pause container, beside stock's, which
// have one. CRI-O's default takes part if there is one.
func (b *bench) sandboxes(ctx context.Context) (_ []Row, retErr error) {
	defer func(was bool) { b.Patched.WithoutPause = was }(b.Patched.WithoutPause)
	b.Patched.WithoutPause = true
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
	if err := b.sandboxCalls(ctx, p.entrants(crio), rows); err != nil {
		return nil, err
	}
	if err := b.sandboxRate(ctx, p.entrants(crio), rows); err != nil {
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

// entrant is a runtime that takes part, and the part of a row that has its figures.
type entrant struct {
	client *cri.Client
	of     func(*Row) *Sample
}

// entrants are the two of a pair, and CRI-O if it takes part.
func (p *pair) entrants(crio *cri.Client) []entrant {
	all := []entrant{{p.stock.CRI(), func(r *Row) *Sample { return &r.Stock }}, {p.patched.CRI(), func(r *Row) *Sample { return &r.Patched }}}
	if crio != nil {
		all = append(all, entrant{crio, func(r *Row) *Sample { return &r.Peer }})
	}
	return all
}

// inTurn lets all take a turn. The order changes, so that none always comes after the same one: the
// kernel still cleans up after the pods of the one before.
func inTurn(all []entrant, turn int, measure func(entrant) error) error {
	first := turn % len(all)
	order := slices.Concat(all[first:], all[:first])
	if turn/len(all)%2 == 1 {
		slices.Reverse(order)
	}
	for _, e := range order {
		if err := measure(e); err != nil {
			return err
		}
	}
	return nil
}

// sandboxCalls times the calls of a pod without containers, one pod at a time.
func (b *bench) sandboxCalls(ctx context.Context, all []entrant, rows *sandboxRows) error {
	defer b.step("%d pods of each, one at a time", b.Counts.Runs)()
	for turn := range b.Counts.Runs {
		if err := inTurn(all, turn, func(e entrant) error {
			return sandboxLife(ctx, e.client, e.of(&rows.run), e.of(&rows.stop), e.of(&rows.remove))
		}); err != nil {
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
func (b *bench) sandboxRate(ctx context.Context, all []entrant, rows *sandboxRows) error {
	for turn := range b.Counts.Rounds {
		end := b.step("rate, round %d of %d", turn+1, b.Counts.Rounds)
		err := inTurn(all, turn, func(e entrant) error {
			rate, err := rateOf(ctx, e.client, b.Counts.Pods, 0)
			*e.of(&rows.rate) = append(*e.of(&rows.rate), rate)
			return err
		})
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// sandboxMemory measures the memory that belongs to the processes of a pod alone: its shim, and its
// pause container if it has one.
func (b *bench) sandboxMemory(ctx context.Context, p *pair, rows *sandboxRows) error {
	for turn := range b.Counts.Rounds {
		end := b.step("memory, round %d of %d", turn+1, b.Counts.Rounds)
		err := occupy(ctx, p, &rows.memory)
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// occupy runs pods on both sides, reads their memory, and removes them.
func occupy(ctx context.Context, p *pair, row *Row) error {
	pods := map[*side][]string{}
	if err := p.both(func(s *side) (err error) { pods[s], err = s.house(ctx); return err }); err != nil {
		return err
	}
	if err := settled(ctx, p, row); err != nil {
		return err
	}
	return p.both(func(s *side) error { return s.each(ctx, pods[s], s.end) })
}

// settled reads the memory of the pods of both sides when all shims have returned what they do not use.
func settled(ctx context.Context, p *pair, row *Row) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(afterCleanUp):
	}
	return p.both(func(s *side) error {
		bytes, err := s.PodsMemory()
		*row.of(s) = append(*row.of(s), float64(bytes)/residents)
		return err
	})
}
