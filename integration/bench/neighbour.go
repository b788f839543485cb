// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

const (
	hook  = 1500 * time.Millisecond
	grace = 10 * time.Second
)

// neighbour measures the work on a container while a plugin is slow to answer for the start of
// another pod.
func (b *bench) neighbour(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.start(ctx, roomy)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()

	calm := Row{What: "Container create, start and stop, nothing else going on", Name: "Container/hook=0s", Unit: "sec/op"}
	disturbed := Row{
		What: fmt.Sprintf("Container create, start and stop, another pod's RunPodSandbox hook takes %s", hook),
		Name: fmt.Sprintf("Container/hook=%s", hook), Unit: "sec/op",
	}
	homes := map[*side]*home{}
	if err := p.both(func(s *side) (err error) { homes[s], err = s.settle(ctx); return err }); err != nil {
		return nil, err
	}
	err = b.rounds(p, func(turn int, s *side) error {
		took, err := homes[s].container(ctx, fmt.Sprintf("calm-%d", turn))
		if err != nil {
			return err
		}
		calm.of(s).add(took)
		took, err = homes[s].disturbed(ctx, turn)
		disturbed.of(s).add(took)
		return err
	})
	if err != nil {
		return nil, err
	}
	limit := 1.1*calm.Patched.median() + 0.030
	disturbed.Goals = []Goal{disturbed.atMost(limit, " (undisturbed + 10 % + 30 ms)")}
	return []Row{calm, disturbed}, nil
}

// home is the pod of the containers.
type home struct {
	*side
	pod    string
	config *runtime.PodSandboxConfig
	slow   *plugin.Plugin
}

// settle runs the pod and a first container in it, and connects the slow plugin and one that
// receives the containers' events.
func (s *side) settle(ctx context.Context) (*home, error) {
	h := &home{side: s, config: s.CRI().Pod("home"), slow: plugin.New("10", "slow")}
	h.slow.Subscribe(plugin.RunPodSandbox)
	watch := plugin.New("20", "watch")
	watch.Subscribe(plugin.CreateContainer, plugin.StartContainer, plugin.StopContainer, plugin.RemoveContainer)
	if err := s.connect(ctx, h.slow, watch); err != nil {
		return nil, err
	}
	var err error
	if h.pod, err = s.CRI().RunPod(ctx, h.config); err != nil {
		return nil, err
	}
	_, err = h.container(ctx, "warm")
	h.slow.On(plugin.RunPodSandbox, plugin.Delay(hook))
	return h, err
}

// container times the life of a container, except for the moment that its program needs to be
// ready for its end.
func (h *home) container(ctx context.Context, name string) (time.Duration, error) {
	c, id := h.CRI(), ""
	start, err := timed(func() (err error) {
		if id, err = c.Create(ctx, h.pod, h.config, c.Container(name)); err != nil {
			return err
		}
		return c.Start(ctx, id)
	})
	if err != nil {
		return 0, err
	}
	if err := h.Settled(ctx, id); err != nil {
		return 0, err
	}
	stop, err := timed(func() error { return c.Stop(ctx, id, grace) })
	if err != nil {
		return 0, err
	}
	return start + stop, c.Remove(ctx, id)
}

// disturbed is container while another pod's hook runs.
func (h *home) disturbed(ctx context.Context, turn int) (took time.Duration, err error) {
	name := fmt.Sprintf("slow-%d", turn)
	ended := make(chan error, 1)
	go func() {
		_, err := h.live(ctx, name)
		ended <- err
	}()
	err = wait.Until(ctx, "the hook of "+name, func(context.Context) error {
		if len(h.slow.Calls().Named(name)) == 0 {
			return errors.New("not called")
		}
		return nil
	})
	if err == nil {
		took, err = h.container(ctx, fmt.Sprintf("disturbed-%d", turn))
	}
	return took, errors.Join(err, <-ended)
}
