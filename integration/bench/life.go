// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// lifeCalls are the calls of CRI in the life of a pod with one container, in their order. A
// kubelet stops a pod more than once, so the second stop is a call of its own.
var lifeCalls = []struct {
	what, name string
	limit      float64 // of stock, if the call has a goal
	call       func(*tenant, context.Context) error
}{
	{"RunPodSandbox, no plugin", "RunPodSandbox", 0.75, (*tenant).run},
	{"CreateContainer", "CreateContainer", 0, (*tenant).create},
	{"StartContainer", "StartContainer", 0, (*tenant).start},
	{"StopContainer", "StopContainer", 0, (*tenant).stop},
	{"RemoveContainer", "RemoveContainer", 0, (*tenant).remove},
	{"StopPodSandbox", "StopPodSandbox", 0.80, (*tenant).stopPod},
	{"StopPodSandbox of a stopped pod", "StopPodSandboxAgain", 0, (*tenant).stopPod},
	{"RemovePodSandbox", "RemovePodSandbox", 0.80, (*tenant).removePod},
}

// life measures each call of a pod's life, with one container and without plugins.
func (b *bench) life(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.warmed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	rows := make([]Row, len(lifeCalls))
	for i, c := range lifeCalls {
		rows[i] = Row{What: c.what, Name: c.name, Unit: "sec/op"}
	}
	defer b.step("%d pods of each, one at a time", b.Counts.Runs)()
	for turn := range b.Counts.Runs {
		if err := p.turn(turn, func(s *side) error { return s.calls(ctx, rows) }); err != nil {
			return nil, err
		}
	}
	for i, c := range lifeCalls {
		if c.limit > 0 {
			rows[i].Goals = []Goal{ratioAtMost(c.limit, rows[i].Patched, rows[i].Stock, "stock")}
		}
	}
	return rows, nil
}

// calls times each call of one pod's life, in the order of the rows.
func (s *side) calls(ctx context.Context, rows []Row) error {
	t := s.tenant("pod")
	for i, c := range lifeCalls {
		took, err := timed(func() error { return c.call(t, ctx) })
		if err != nil {
			return err
		}
		rows[i].of(s).add(took)
		if err := t.settled(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tenant is a pod with one container.
type tenant struct {
	*side
	config         *runtime.PodSandboxConfig
	pod, container string // their ids, once they have some
	started        bool
}

func (s *side) tenant(name string) *tenant { return &tenant{side: s, config: s.CRI().Pod(name)} }

func (t *tenant) run(ctx context.Context) (err error) {
	t.pod, err = t.CRI().RunPod(ctx, t.config)
	return err
}

func (t *tenant) create(ctx context.Context) (err error) {
	t.container, err = t.CRI().Create(ctx, t.pod, t.config, t.CRI().Container("main"))
	return err
}

func (t *tenant) start(ctx context.Context) error {
	t.started = true
	return t.CRI().Start(ctx, t.container)
}

func (t *tenant) stop(ctx context.Context) error {
	t.started = false
	return t.CRI().Stop(ctx, t.container, grace)
}

func (t *tenant) remove(ctx context.Context) error    { return t.CRI().Remove(ctx, t.container) }
func (t *tenant) stopPod(ctx context.Context) error   { return t.CRI().StopPod(ctx, t.pod) }
func (t *tenant) removePod(ctx context.Context) error { return t.CRI().RemovePod(ctx, t.pod) }

// settled waits until a started container can be stopped without its grace period: its program
// needs a moment, which is not measured here.
func (t *tenant) settled(ctx context.Context) error {
	if !t.started {
		return nil
	}
	return t.Settled(ctx, t.container)
}
