// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// NamedPlugin is a plugin in processes of its own, one after the other, under one name.
type NamedPlugin struct {
	n         *node.Node
	Script    plugin.Script
	processes []*plugin.Process
}

// JoinNamed has a plugin join.
func JoinNamed(t *testing.T, n *node.Node, script plugin.Script) *NamedPlugin {
	t.Helper()
	p := &NamedPlugin{n: n, Script: script}
	p.Comes(t)
	return p
}

// Name is what the runtime knows it by.
func (p *NamedPlugin) Name() string { return p.Script.Index + "-" + p.Script.Name }

// Process is the latest of its processes.
func (p *NamedPlugin) Process() *plugin.Process { return p.processes[len(p.processes)-1] }

// Comes has the plugin join in a process of its own.
func (p *NamedPlugin) Comes(t *testing.T) {
	t.Helper()
	p.processes = append(p.processes, JoinProcess(t, p.n, p.Script))
}

// Goes kills the plugin's process, and returns when the runtime has noticed, if it
// shows that.
func (p *NamedPlugin) Goes(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Process().Kill())
	RequireSoon(t, p.Name()+" to be away", func(context.Context) error { return p.IsAway(t) })
}

// IsAway says whether the runtime knows that the plugin is not there.
func (p *NamedPlugin) IsAway(t require.TestingT) error { return IsGone(t, p.n, p.Name()) }

// IsGone says whether the runtime knows that a plugin is not there.
func IsGone(t require.TestingT, n Runtime, name string) error {
	if RunsOnStock {
		return nil // it does not show its plugins
	}
	if len(ReadNRI(t, n).Shown(name)) > 0 {
		return fmt.Errorf("%s is there", name)
	}
	return nil
}

// Connections are the records of all its connections, one after the other.
func (p *NamedPlugin) Connections() (all []plugin.Calls) {
	for _, process := range p.processes {
		all = append(all, process.Calls().Connections()...)
	}
	return all
}

// SinceReturn is what the latest connection was told of a pod.
func (p *NamedPlugin) SinceReturn(pod string) []plugin.Event { return p.CallsSinceReturn(pod).Events() }

// CallsSinceReturn are the events of a pod over the latest connection.
func (p *NamedPlugin) CallsSinceReturn(pod string) plugin.Calls {
	all := p.Connections()
	return all[len(all)-1].Of(pod)
}

// RequireTold waits until the latest connection was told some events of a pod, and no others.
func (p *NamedPlugin) RequireTold(t require.TestingT, pod string, events ...plugin.Event) {
	RequireSoon(t, fmt.Sprintf("%s to be told %v", p.Name(), events), func(context.Context) error {
		if told := p.SinceReturn(pod); !slices.Equal(told, events) {
			return fmt.Errorf("it was told %v", told)
		}
		return nil
	})
}

// RequireLawful holds all that it was told against the contract (L1 to L4, L18): of what it knew
// it was told the end, and of nothing else. All pods have ended. Those in stopped may be in
// Synchronize as stopped.
func (p *NamedPlugin) RequireLawful(t require.TestingT, stopped ...string) {
	since := map[string]time.Time{}
	for _, pod := range stopped {
		since[pod] = time.Time{}
	}
	RequireSoon(t, "all ends of what "+p.Name()+" knew", func(context.Context) error {
		all := p.Connections()
		if alive := history.ReadLast(all, since).Alive(); len(alive) > 0 {
			return fmt.Errorf("it knows %s", alive)
		}
		return nil
	})
	all := p.Connections()
	for i := range all {
		assert.Empty(t, history.Read(all[i], since, all[:i]...).Faults(), "connection %d of %s", i+1, p.Name())
	}
}

// RequireBack waits until a plugin that returns by itself is synchronized.
func (p *NamedPlugin) RequireBack(t *testing.T, before int) {
	t.Helper()
	RequireSoon(t, p.Name()+" to be back", func(context.Context) error {
		all := p.Connections()
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

// IsOwed says whether a plugin is shown as away, with so many ends that it is owed.
func IsOwed(t require.TestingT, n Runtime, name string, ends int) error {
	if RunsOnStock {
		return nil // it shows no plugins
	}
	away := ReadNRI(t, n).AwayPlugins
	for _, p := range away {
		if p.Name == name && p.Owed == ends {
			return nil
		}
	}
	return fmt.Errorf("away are %v", away)
}
