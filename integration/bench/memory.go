// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
)

// residents is the number of pods that memory is measured with: enough to exceed the free space in
// containerd's heap.
const residents = 40

// memory measures the memory of a pod: in containerd and in its shim. Each round has nodes of its
// own: memory of an earlier round's pods would be free for those of the next.
func (b *bench) memory(ctx context.Context) ([]Row, error) {
	containerd := Row{
		What: fmt.Sprintf("Resident memory of containerd for each of %d pods", residents),
		Name: fmt.Sprintf("PodMemory/pods=%d", residents), Unit: "B/pod",
	}
	shims := Row{
		What: fmt.Sprintf("Resident memory of a pod's shim (median of %d)", residents),
		Name: fmt.Sprintf("PodShimMemory/pods=%d", residents), Unit: "B/pod",
	}
	for turn := range b.Counts.Rounds {
		if err := b.reside(ctx, turn, &containerd, &shims); err != nil {
			return nil, err
		}
	}
	for _, r := range []*Row{&containerd, &shims} {
		r.Goals = []Goal{noMore(r.Patched, r.Stock, "stock")}
	}
	return []Row{containerd, shims}, nil
}

// reside is a round.
func (b *bench) reside(ctx context.Context, turn int, containerd, shims *Row) (retErr error) {
	p, err := b.warmed(ctx)
	if err != nil {
		return err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	defer b.step("round %d of %d, %d pods", turn+1, b.Counts.Rounds, residents)()
	return p.turn(turn, func(s *side) error {
		grown, shim, err := s.grown(ctx)
		*containerd.of(s) = append(*containerd.of(s), grown/residents)
		*shims.of(s) = append(*shims.of(s), shim)
		return err
	})
}

// house runs the pods, one after the other, and returns their ids.
func (s *side) house(ctx context.Context) (pods []string, err error) {
	for i := range residents {
		id, err := s.CRI().RunPod(ctx, s.CRI().Pod(fmt.Sprintf("resident-%d", i)))
		if err != nil {
			return pods, err
		}
		pods = append(pods, id)
	}
	return pods, nil
}

// grown runs the pods. It returns by how much containerd grew, and the memory of a shim.
func (s *side) grown(ctx context.Context) (more, shim float64, err error) {
	var had, goroutines Sample
	if err := s.measure(ctx, &had, &goroutines); err != nil {
		return 0, 0, err
	}
	pods, err := s.house(ctx)
	if err != nil {
		return 0, 0, err
	}
	if err := s.measure(ctx, &had, &goroutines); err != nil {
		return 0, 0, err
	}
	var resident Sample
	for _, id := range pods {
		memory, err := s.ShimMemory(id)
		if err != nil {
			return 0, 0, err
		}
		resident = append(resident, float64(memory))
	}
	return had[1] - had[0], resident.median(), nil
}
