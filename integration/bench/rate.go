// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookline-nri/hookline/integration/plugin"
)

const (
	atOnce   = 8 // pods at a time
	slowness = 20 * time.Millisecond
)

// rate measures how many pods are run, stopped and removed in a second: without
// plugins, and with five that delay the start and stop of each.
func (b *bench) rate(ctx context.Context) (_ []Row, retErr error) {
	without := Row{What: fmt.Sprintf("Pods per second, %d at a time, no plugin", atOnce), Name: "Rate/plugins=0", Unit: "pods/sec"}
	with := Row{
		What: fmt.Sprintf("Pods per second, %d at a time, five plugins of %s in RunPodSandbox and StopPodSandbox", atOnce, slowness),
		Name: "Rate/plugins=5", Unit: "pods/sec",
	}
	rows := []*Row{&without, &with}
	pairs := make([]*pair, len(rows))
	for i := range pairs {
		p, err := b.start(ctx, nil)
		if err != nil {
			return nil, err
		}
		defer func() { retErr = errors.Join(retErr, p.close()) }()
		if err := p.both(func(s *side) error { return s.warm(ctx) }); err != nil {
			return nil, err
		}
		pairs[i] = p
	}
	if err := pairs[1].both(func(s *side) error { return s.connect(ctx, five("slow", slow)...) }); err != nil {
		return nil, err
	}
	for turn := range b.Counts.Rounds {
		for i, p := range pairs {
			end := b.step("round %d of %d: %d pods of each, %d plugins", turn+1, b.Counts.Rounds, b.Counts.Pods, len(p.stock.plugins))
			err := p.turn(turn, func(s *side) error {
				took, err := timed(func() error { return s.lives(ctx, b.Counts.Pods, atOnce) })
				*rows[i].of(s) = append(*rows[i].of(s), float64(b.Counts.Pods)/took.Seconds())
				return err
			})
			end()
			if err != nil {
				return nil, err
			}
		}
	}
	with.Goals = []Goal{ratioAtLeast(0.85, with.Patched, without.Patched, "the rate without plugins")}
	return []Row{without, with}, nil
}

// five makes five plugins with the same setup.
func five(name string, setup func(*plugin.Plugin)) []*plugin.Plugin {
	var plugins []*plugin.Plugin
	for i := range 5 {
		p := plugin.New(fmt.Sprintf("%d0", i+1), name)
		setup(p)
		plugins = append(plugins, p)
	}
	return plugins
}

func slow(p *plugin.Plugin) {
	p.Subscribe(plugin.RunPodSandbox, plugin.StopPodSandbox)
	p.On(plugin.RunPodSandbox, plugin.Delay(slowness))
	p.On(plugin.StopPodSandbox, plugin.Delay(slowness))
}
