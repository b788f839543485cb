// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// timeout is NRI's default request timeout.
const timeout = 2 * time.Second

func defaultTimeout(o *node.Options) { o.RequestTimeout = timeout }

// roomy leaves time for slow hooks on a busy machine.
func roomy(o *node.Options) { o.RequestTimeout = 5 * timeout }

// hung measures the stop of a pod when no plugin answers.
func (b *bench) hung(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.start(ctx, defaultTimeout)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()

	row := Row{What: "StopPodSandbox (request timeouts), five plugins hang", Name: "StopPodSandbox/hung=5", Unit: "timeouts/op"}
	err = b.rounds(p, func(round int, s *side) error {
		took, err := s.hungStop(ctx, fmt.Sprintf("hung%d", round))
		*row.of(s) = append(*row.of(s), took.Seconds()/timeout.Seconds())
		return err
	})
	if err != nil {
		return nil, err
	}
	row.Goals = []Goal{row.atMost(1.25, " request timeouts")}
	return []Row{row}, nil
}

// hungStop stops a pod while the plugins that know it hang. A runtime disconnects them, so each
// stop has new plugins with names of their own: under the old names they would be successors of
// the hanging ones (L19), and wait for those first.
func (s *side) hungStop(ctx context.Context, name string) (time.Duration, error) {
	gate := plugin.NewGate()
	defer s.disconnect()
	defer gate.Release()
	hang := func(p *plugin.Plugin) {
		p.Subscribe(plugin.RunPodSandbox, plugin.StopPodSandbox)
		p.On(plugin.StopPodSandbox, gate.Hold)
	}
	if err := s.connect(ctx, five(name, hang)...); err != nil {
		return 0, err
	}
	id, err := s.CRI().RunPod(ctx, s.CRI().Pod("pod"))
	if err != nil {
		return 0, err
	}
	took, err := timed(func() error { return s.CRI().StopPod(ctx, id) })
	if err != nil {
		return 0, err
	}
	return took, s.CRI().RemovePod(ctx, id)
}
