// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hookline-nri/hookline/integration/bench/programs"
)

// alone is the number of pods of a round that run one at a time, before eight at a time.
const alone = 4

// whereCalls are the calls that are broken down, in the order of a pod's life.
var whereCalls = []struct {
	name string
	call func(*tenant, context.Context) error
}{
	{"RunPodSandbox", (*tenant).run},
	{"CreateContainer", (*tenant).create},
	{"StartContainer", (*tenant).start},
	{"StopContainer", (*tenant).stop},
	{"RemoveContainer", (*tenant).remove},
	{"StopPodSandbox", (*tenant).stopPod},
	{"RemovePodSandbox", (*tenant).removePod},
}

// counted are the calls whose number of programs is in the table of the scenarios.
var counted = []string{"RunPodSandbox", "StopPodSandbox", "RemovePodSandbox"}

// where breaks down what a call waits for: the programs that it starts, the disk, and the rest.
func (b *bench) where(ctx context.Context) (_ []Row, retErr error) {
	if err := programs.Check(); err != nil {
		return nil, err
	}
	p, err := b.warmed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	batches, trace, err := b.recorded(ctx, p)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, name := range counted {
		row := Row{What: name + ", programs started", Name: name + "Programs", Unit: "programs/op"}
		for _, batch := range batches {
			if batch.call == name && batch.atOnce() == 1 {
				sample := row.sample(batch.runtime)
				*sample = append(*sample, float64(len(batch.programs(trace))))
			}
		}
		rows = append(rows, row)
	}
	if b.Where != nil {
		b.Where(breakDown(batches, trace))
	}
	return rows, nil
}

// recorded runs the pods while all programs of the machine are recorded.
func (b *bench) recorded(ctx context.Context, p *pair) (batches []*batch, _ *programs.Trace, _ error) {
	recording, err := programs.Record(ctx)
	if err != nil {
		return nil, nil, err
	}
	err = b.rounds(p, func(_ int, s *side) error {
		for range alone {
			if err := s.phases(ctx, 1, &batches); err != nil {
				return err
			}
		}
		return s.phases(ctx, atOnce, &batches)
	})
	defer b.step("read the recording")()
	trace, stopErr := recording.Stop(ctx)
	return batches, trace, errors.Join(err, stopErr)
}

// batch is one call for several pods of a side at once.
type batch struct {
	runtime    string
	folder     string // of the node and of the programs that its containerd starts
	containerd int    // its process
	call       string
	calls      []call
}

// call is a call of CRI for the objects with these ids.
type call struct {
	start, end time.Duration
	ids        []string
}

func (b *batch) atOnce() int { return len(b.calls) }

// window is from the start of the first call to the end of the last.
func (b *batch) window() (start, end time.Duration) {
	start, end = b.calls[0].start, b.calls[0].end
	for _, c := range b.calls {
		start, end = min(start, c.start), max(end, c.end)
	}
	return start, end
}

// phases runs the lives of pods of a side, each call for all of them at once. The next call starts
// when the previous one has ended for all.
func (s *side) phases(ctx context.Context, pods int, batches *[]*batch) error {
	var tenants []*tenant
	for i := range pods {
		tenants = append(tenants, s.tenant(fmt.Sprintf("where-%d", i)))
	}
	for _, c := range whereCalls {
		made := &batch{runtime: s.name, folder: s.Folder(), containerd: s.PID(), call: c.name, calls: make([]call, pods)}
		group, limited := errgroup.WithContext(ctx)
		for i, t := range tenants {
			group.Go(func() error {
				start := programs.Now()
				err := c.call(t, limited)
				made.calls[i] = call{start, programs.Now(), nil}
				made.calls[i].ids = slices.DeleteFunc([]string{t.pod, t.container}, func(id string) bool { return id == "" })
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		*batches = append(*batches, made)
		for _, t := range tenants {
			if err := t.settled(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
