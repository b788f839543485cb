// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// workers is how many pods are run and removed at a time while plugins register.
const workers = 4

// register measures the registration of a plugin on a full and busy node.
func (b *bench) register(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.filled(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	row := Row{
		What: fmt.Sprintf("Registration, %d pods, %d more come and go", b.Counts.NodePods, workers),
		Name: fmt.Sprintf("Registration/pods=%d", b.Counts.NodePods), Unit: "sec/op",
	}
	err = b.rounds(p, func(_ int, s *side) error {
		defer s.disconnect()
		return s.busy(ctx, func() error { return s.registrations(ctx, row.of(s)) })
	})
	if err != nil {
		return nil, err
	}
	row.Goals = []Goal{row.atMost(0.250, "")}
	return []Row{row}, nil
}

// fill runs the pods of the node. They are on the host's network: they need no addresses, and
// start faster.
func (b *bench) fill(ctx context.Context, s *side) error {
	const portion = 50
	for from := 0; from < b.Counts.NodePods; from += portion {
		to := min(from+portion, b.Counts.NodePods)
		end := b.step("%s: pods %d to %d of %d", s.name, from+1, to, b.Counts.NodePods)
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(workers)
		for i := from; i < to; i++ {
			group.Go(func() error {
				_, err := s.CRI().RunPod(ctx, s.hostPod(fmt.Sprintf("full-%d", i)))
				return err
			})
		}
		err := group.Wait()
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// registrations times plugins that register one after the other. They stay connected until the
// other pods have ended.
func (s *side) registrations(ctx context.Context, times *Sample) error {
	for _, p := range five("newcomer", func(*plugin.Plugin) {}) {
		took, err := timed(func() error { return s.connect(ctx, p) })
		if err != nil {
			return err
		}
		times.add(took)
	}
	return nil
}

// busy does something while pods are run and removed.
func (s *side) busy(ctx context.Context, do func() error) error {
	idle := make(chan struct{}) // closed when no more pods should run
	group, ctx := errgroup.WithContext(ctx)
	var working sync.WaitGroup
	for i := range workers {
		working.Add(1)
		started := sync.OnceFunc(working.Done)
		group.Go(func() error {
			defer started()
			for {
				if _, err := s.live(ctx, fmt.Sprintf("busy-%d", i)); err != nil {
					return err
				}
				started()
				select {
				case <-idle:
					return nil
				default:
				}
			}
		})
	}
	working.Wait()
	err := do()
	close(idle)
	return errors.Join(err, group.Wait())
}
