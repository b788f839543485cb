// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hookline-nri/hookline/testkit/node"
)

// starts is the number of starts of the shim that are timed together: one takes milliseconds.
const starts = 20

// shim measures the cost of the shim for each pod: on disk, at its start, and in memory. If the
// ratios are near one, both sides were built with the same flags.
func (b *bench) shim(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.warmed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	size := Row{What: "The shim on disk", Name: "ShimSize", Unit: "B"}
	start := Row{What: "The shim's start (-v)", Name: "ShimStart", Unit: "sec/op"}
	memory := Row{What: "Resident memory of a pod's shim", Name: "ShimMemory", Unit: "B"}
	defer b.step("%d times %d starts and a pod of each", b.Counts.Runs, starts)()
	for turn := range b.Counts.Runs {
		if err := p.turn(turn, func(s *side) error {
			program := b.program(s)
			if turn == 0 {
				info, err := os.Stat(program)
				if err != nil {
					return err
				}
				*size.of(s) = Sample{float64(info.Size())}
			}
			took, err := timed(func() error { return startOften(ctx, program) })
			if err != nil {
				return err
			}
			start.of(s).add(took / starts)
			resident, err := s.shimMemory(ctx)
			*memory.of(s) = append(*memory.of(s), float64(resident))
			return err
		}); err != nil {
			return nil, err
		}
	}
	size.Goals = []Goal{ratioAtMost(1.01, size.Patched, size.Stock, "stock")}
	start.Goals = []Goal{ratioAtMost(1.05, start.Patched, start.Stock, "stock")}
	memory.Goals = []Goal{ratioAtMost(1.05, memory.Patched, memory.Stock, "stock")}
	return []Row{size, start, memory}, nil
}

func startOften(ctx context.Context, program string) error {
	for range starts {
		if err := exec.CommandContext(ctx, program, "-v").Run(); err != nil {
			return fmt.Errorf("start %s: %w", program, err)
		}
	}
	return nil
}

// program is the path of a side's shim.
func (b *bench) program(s *side) string {
	options := map[string]node.Options{stock: b.Stock, patched: b.Patched}
	return filepath.Join(options[s.name].Bin, "containerd-shim-runc-v2")
}

// shimMemory runs a pod, reads the memory of its shim, and ends it.
func (s *side) shimMemory(ctx context.Context) (resident int, err error) {
	id, err := s.CRI().RunPod(ctx, s.CRI().Pod(fmt.Sprintf("shim-%d", time.Now().UnixNano())))
	if err != nil {
		return 0, err
	}
	resident, err = s.ShimMemory(id)
	return resident, errors.Join(err, s.end(ctx, id))
}
