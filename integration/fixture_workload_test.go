// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/cri"
	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// workload leads the lives of many pods, and keeps when each began and ended.
type workload struct {
	cri  *cri.Client
	step func() // called before each CRI call of a life

	mu    sync.Mutex
	lives map[string]history.Life // of pods and containers
	asked map[string]time.Time    // when the end of a pod or container was first asked for
}

func newWorkload(c *cri.Client) *workload {
	return &workload{cri: c, step: func() {}, lives: map[string]history.Life{}, asked: map[string]time.Time{}}
}

// patience is how long one CRI call of a life may take. A wedged runtime shows
// by a call that does not come back; a slow machine takes longer for all of
// them together, but for none as long as this.
const patience = 20 * time.Second

// ask makes one CRI call of a life. Its error says for how long it was waited.
func (w *workload) ask(ctx context.Context, call func(context.Context) error) error {
	w.step()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked := time.Now()
	if err := call(ctx); err != nil {
		return fmt.Errorf("after %s: %w", time.Since(asked).Round(time.Millisecond), err)
	}
	return nil
}

// lead leads the life of a pod with one container. They end in one of the ways
// that a kubelet may take, by a number.
func (w *workload) lead(ctx context.Context, name string, way int) error {
	var pod, container string
	config := w.cri.Pod(name)
	if err := w.ask(ctx, func(ctx context.Context) (err error) {
		pod, err = w.cri.RunPod(ctx, config)
		return err
	}); err != nil {
		return err
	}
	w.begins(pod)
	if err := w.ask(ctx, func(ctx context.Context) (err error) {
		container, err = w.cri.Create(ctx, pod, config, w.cri.Container("main"))
		return err
	}); err != nil {
		return err
	}
	w.begins(container)
	if err := w.ask(ctx, func(ctx context.Context) error { return w.cri.Start(ctx, container) }); err != nil {
		return err
	}
	w.ends(container)
	if way%3 == 0 {
		if err := w.ask(ctx, func(ctx context.Context) error { return w.cri.Stop(ctx, container, 0) }); err != nil {
			return err
		}
		if err := w.ask(ctx, func(ctx context.Context) error { return w.cri.Remove(ctx, container) }); err != nil {
			return err
		}
	}
	w.ends(pod)
	if way%3 != 2 {
		if err := w.ask(ctx, func(ctx context.Context) error { return w.cri.StopPod(ctx, pod) }); err != nil {
			return err
		}
	}
	return w.ask(ctx, func(ctx context.Context) error { return w.cri.RemovePod(ctx, pod) })
}

// begins notes that a creation is through.
func (w *workload) begins(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lives[id] = history.Life{ID: id, Begin: time.Now()}
}

// ends notes that an end is about to be asked for, now or before.
func (w *workload) ends(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, asked := w.asked[id]; !asked {
		w.asked[id] = time.Now()
	}
	if l, began := w.lives[id]; began && l.End.IsZero() {
		l.End = time.Now()
		w.lives[id] = l
	}
}

// endsAll notes that the end of all that is there is about to be asked for.
func (w *workload) endsAll() {
	w.mu.Lock()
	ids := slices.Collect(maps.Keys(w.lives))
	w.mu.Unlock()
	for _, id := range ids {
		w.ends(id)
	}
}

// requireContractKept holds all connections of a plugin against the contract. The last one
// is alive, so that all that it knows must have ended by now.
func (w *workload) requireContractKept(t require.TestingT, p *plugin.Plugin) {
	w.mu.Lock()
	ends := maps.Clone(w.asked)
	var lives []history.Life
	for _, l := range w.lives {
		lives = append(lives, l)
	}
	w.mu.Unlock()
	records := p.Calls().Connections()
	for i, record := range records {
		which := fmt.Sprintf("connection %d of %s", record[0].Connection, p.Name())
		reading := history.Read(record, ends)
		assert.Empty(t, reading.Faults(), "%s was told what it must not be", which)
		var gone time.Time
		if i == len(records)-1 {
			gone = time.Now()
			assert.Empty(t, reading.Alive(), "%s was not told of the end", which)
		}
		assert.Empty(t, reading.Missed(lives, gone), "%s was not told of the beginning", which)
	}
}
