// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

const (
	atOnce   = 8 // pods at a time
	slowness = 20 * time.Millisecond

	// inHooks is the time of five such plugins in a pod's life if no other pod asks them:
	// RunPodSandbox in turn, StopPodSandbox all at once.
	inHooks = 6 * slowness
)

// rate measures how many pods are run, stopped and removed per second: without plugins, with five
// that delay the start and stop of each, and without plugins but with a wait in each pod as long
// as those five would take if no other pod asked them. The last gives the cost of the plugins'
// own time.
func (b *bench) rate(ctx context.Context) (_ []Row, retErr error) {
	idle, err := b.warmed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, idle.close()) }()
	busy, err := b.warmed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, busy.close()) }()
	if err := busy.both(func(s *side) error { return s.connect(ctx, five("slow", slow)...) }); err != nil {
		return nil, err
	}
	pods := fmt.Sprintf("Pods per second, %d at a time, ", atOnce)
	without := Row{What: pods + "no plugin", Name: "Rate/plugins=0", Unit: "pods/sec"}
	waiting := Row{What: fmt.Sprintf("%sno plugin, and a wait of %s while each runs", pods, inHooks), Name: "Rate/waits", Unit: "pods/sec"}
	with := Row{
		What: fmt.Sprintf("%sfive plugins of %s in RunPodSandbox and StopPodSandbox", pods, slowness),
		Name: "Rate/plugins=5", Unit: "pods/sec",
	}
	loads := []load{{&without, idle, 0}, {&waiting, idle, inHooks}, {&with, busy, 0}}
	for turn := range b.Counts.Rounds {
		for _, l := range loads {
			if err := b.bear(ctx, turn, l); err != nil {
				return nil, err
			}
		}
	}
	without.Goals = []Goal{ratioAtLeast(1.30, without.Patched, without.Stock, "stock")}
	with.Goals = []Goal{ratioAtLeast(0.95, with.Patched, without.Patched, "the rate without plugins")}
	return []Row{without, waiting, with}, nil
}

// load is a number of pods that run for a while on a pair of nodes.
type load struct {
	row  *Row
	pair *pair
	runs time.Duration
}

// bear measures both sides of a pair with a load.
func (b *bench) bear(ctx context.Context, turn int, l load) error {
	defer b.step("round %d of %d: %s", turn+1, b.Counts.Rounds, l.row.What)()
	return l.pair.turn(turn, func(s *side) error {
		rate, err := rateOf(ctx, s.CRI(), b.Counts.Pods, l.runs)
		*l.row.of(s) = append(*l.row.of(s), rate)
		return err
	})
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
