// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const stock, patched = "stock", "patched"

// side is a measured runtime on its own node.
type side struct {
	*node.Node
	name    string
	plugins []*plugin.Plugin
}

// connect connects plugins, one after the other, until the side is closed.
func (s *side) connect(ctx context.Context, plugins ...*plugin.Plugin) error {
	for _, p := range plugins {
		if err := p.Connect(ctx, s.NRISocket()); err != nil {
			return err
		}
		s.plugins = append(s.plugins, p)
	}
	return nil
}

// disconnect drops the connections of all plugins.
func (s *side) disconnect() {
	for _, p := range s.plugins {
		p.Crash()
	}
	s.plugins = nil
}

func (s *side) close() error {
	s.disconnect()
	if err := s.Close(); err != nil {
		return fmt.Errorf("close node of %s: %w", s.name, err)
	}
	return nil
}

// pair is both runtimes.
type pair struct{ stock, patched *side }

// start runs both on nodes of their own, with the same options.
func (b *bench) start(ctx context.Context, change func(*node.Options)) (_ *pair, retErr error) {
	defer b.step("start a node of each")()
	p := &pair{}
	defer func() {
		if retErr != nil {
			retErr = errors.Join(retErr, p.close())
		}
	}()
	var err error
	if p.stock, err = b.side(ctx, stock, b.Stock, change); err != nil {
		return nil, err
	}
	if p.patched, err = b.side(ctx, patched, b.Patched, change); err != nil {
		return nil, err
	}
	return p, nil
}

// warmed starts both, and warms them up.
func (b *bench) warmed(ctx context.Context) (*pair, error) {
	p, err := b.start(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := p.both(func(s *side) error { return s.warm(ctx) }); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// filled starts both, and runs the pods of a full node on each.
func (b *bench) filled(ctx context.Context) (*pair, error) {
	p, err := b.start(ctx, roomy)
	if err != nil {
		return nil, err
	}
	if err := p.both(func(s *side) error { return b.fill(ctx, s) }); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (b *bench) side(ctx context.Context, name string, options node.Options, change func(*node.Options)) (*side, error) {
	options.LogLevel = "info" // as in production, not debug
	if change != nil {
		change(&options)
	}
	n, err := node.Start(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &side{Node: n, name: name}, nil
}

func (p *pair) close() error {
	var errs []error
	for _, s := range []*side{p.stock, p.patched} {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}

// both calls do for one side and then the other.
func (p *pair) both(do func(*side) error) error { return p.turn(0, do) }

// turn is both, but the first side changes from turn to turn.
func (p *pair) turn(turn int, do func(*side) error) error {
	sides := []*side{p.stock, p.patched}
	if turn%2 == 1 {
		slices.Reverse(sides)
	}
	for _, s := range sides {
		if err := do(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// rounds takes Options.Rounds turns.
func (b *bench) rounds(p *pair, do func(turn int, s *side) error) error {
	for turn := range b.Counts.Rounds {
		end := b.step("round %d of %d", turn+1, b.Counts.Rounds)
		err := p.turn(turn, func(s *side) error { return do(turn, s) })
		end()
		if err != nil {
			return err
		}
	}
	return nil
}
