// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
)

// run measures the cost of the patches without plugins.
func (b *bench) run(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.warmed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	row := Row{What: "RunPodSandbox, no plugin", Name: "RunPodSandbox", Unit: "sec/op"}
	defer b.step("%d pods of each, one at a time", b.Counts.Runs)()
	for turn := range b.Counts.Runs {
		if err := p.turn(turn, func(s *side) error {
			took, err := s.life(ctx, "pod")
			row.of(s).add(took)
			return err
		}); err != nil {
			return nil, err
		}
	}
	row.Goals = []Goal{ratioAtMost(1.03, row.Patched, row.Stock, "stock")}
	return []Row{row}, nil
}
