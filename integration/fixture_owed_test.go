// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// named is the name of a plugin, over all processes that have had it.
type named struct {
	n         *node.Node
	script    plugin.Script
	processes []*plugin.Process
}

// newNamed has a plugin join.
func newNamed(t *testing.T, n *node.Node, script plugin.Script) *named {
	t.Helper()
	p := &named{n: n, script: script}
	p.comes(t)
	return p
}

// Name is what the runtime knows it by.
func (p *named) Name() string { return p.script.Index + "-" + p.script.Name }

func (p *named) process() *plugin.Process { return p.processes[len(p.processes)-1] }

// comes has the plugin join in a process of its own.
func (p *named) comes(t *testing.T) {
	t.Helper()
	p.processes = append(p.processes, joinProcess(t, p.n, p.script))
}

// goes kills the plugin's process, and returns when the runtime has noticed, if it
// shows that.
func (p *named) goes(t *testing.T) {
	t.Helper()
	require.NoError(t, p.process().Kill())
	requireSoon(t, p.Name()+" to be away", func(context.Context) error { return p.isAway(t) })
}

// isAway says whether the runtime knows that the plugin is not there.
func (p *named) isAway(t require.TestingT) error { return isGone(t, p.n, p.Name()) }

// isGone says whether the runtime knows that a plugin is not there.
func isGone(t require.TestingT, n fixture.Runtime, name string) error {
	if runsOnStock {
		return nil // it does not show its plugins
	}
	for _, there := range readNRI(t, n).Plugins {
		if there.Index+"-"+there.Name == name {
			return fmt.Errorf("%s is there", name)
		}
	}
	return nil
}

// connections are the records of all its connections, one after the other.
func (p *named) connections() (all []plugin.Calls) {
	for _, process := range p.processes {
		all = append(all, process.Calls().Connections()...)
	}
	return all
}

// sinceReturn is what the latest connection was told of a pod.
func (p *named) sinceReturn(pod string) []plugin.Event { return p.callsSinceReturn(pod).Events() }

func (p *named) callsSinceReturn(pod string) plugin.Calls {
	all := p.connections()
	return all[len(all)-1].Of(pod)
}

// requireTold waits until the latest connection was told some events of a pod, and no others.
func (p *named) requireTold(t require.TestingT, pod string, events ...plugin.Event) {
	requireSoon(t, fmt.Sprintf("%s to be told %v", p.Name(), events), func(context.Context) error {
		if told := p.sinceReturn(pod); !slices.Equal(told, events) {
			return fmt.Errorf("it was told %v", told)
		}
		return nil
	})
}

// requireLawful holds all that it was told against the contract (L1 to L4, L18): of what it knew
// it was told the end, and of nothing else. All pods have ended. Those in stopped may be in
// Synchronize as stopped.
func (p *named) requireLawful(t require.TestingT, stopped ...string) {
	since := map[string]time.Time{}
	for _, pod := range stopped {
		since[pod] = time.Time{}
	}
	requireSoon(t, "all ends of what "+p.Name()+" knew", func(context.Context) error {
		all := p.connections()
		if alive := history.Read(all[len(all)-1], since, all[:len(all)-1]...).Alive(); len(alive) > 0 {
			return fmt.Errorf("it knows %s", alive)
		}
		return nil
	})
	all := p.connections()
	for i := range all {
		assert.Empty(t, history.Read(all[i], since, all[:i]...).Faults(), "connection %d of %s", i+1, p.Name())
	}
}

// requireBack waits until a plugin that returns by itself is synchronized.
func (p *named) requireBack(t *testing.T, before int) {
	t.Helper()
	requireSoon(t, p.Name()+" to be back", func(context.Context) error {
		all := p.connections()
		if len(all) <= before {
			return fmt.Errorf("it has had %d connections", len(all))
		}
		for _, call := range all[len(all)-1].Only(plugin.Synchronize) {
			if !call.End.IsZero() {
				return nil
			}
		}
		return fmt.Errorf("it is not synchronized")
	})
}

// isOwed says whether a plugin is shown as away, with so many ends that it is owed.
func isOwed(t require.TestingT, n fixture.Runtime, name string, ends int) error {
	if runsOnStock {
		return nil // it shows no plugins
	}
	away := readNRI(t, n).AwayPlugins
	for _, p := range away {
		if p.Name == name && p.Owed == ends {
			return nil
		}
	}
	return fmt.Errorf("away are %v", away)
}
