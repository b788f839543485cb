// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// Creations are pods that are held at the points of a wave.
type Creations struct {
	N       *node.Node
	Plugins map[string]*plugin.Plugin
	Held    []*creation
	over    atomic.Bool // plugins agree to all from here on
}

// creation is a pod that is held at a point.
type creation struct {
	point
	config *runtime.PodSandboxConfig
	gate   *plugin.Gate // nil if a program holds it
	hold   *node.Hold
	Ran    <-chan error
}

// PluginLoopback has a CNI plugin bring up the loopback interface, which a creation can be
// cut in, too.
const PluginLoopback = `version = 3
[plugins.'io.containerd.cri.v1.runtime'.cni]
use_internal_loopback = false
`

// NewCreations starts a node with plugins for the points of a wave.
func NewCreations(t *testing.T, w Wave) *Creations {
	t.Helper()
	if err := w.needs(); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	} else {
		require.NoError(t, err)
	}
	n := StartNode(t, func(o *node.Options) {
		o.RequestTimeout, o.RegistrationTimeout = 30*time.Second, 10*time.Second
		o.Chained = true
		o.Config = PluginLoopback
	})
	c := &Creations{N: n, Plugins: map[string]*plugin.Plugin{
		"first": plugin.New("10", "first"), "second": plugin.New("20", "second"), "third": plugin.New("30", "third"),
	}}
	for _, p := range w.points {
		created := &creation{point: p, config: p.config(n)}
		if p.hook.event != "" {
			created.gate = NewGate(t)
		} else {
			var err error
			created.hold, err = n.HoldAt(p.program, p.Pod())
			require.NoError(t, err)
		}
		c.Held = append(c.Held, created)
	}
	for name, p := range c.Plugins {
		t.Cleanup(p.Crash)
		for _, event := range []plugin.Event{plugin.Synchronize, plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox} {
			p.On(event, c.answer(name))
		}
	}
	return c
}

// answer holds and refuses what the points say.
func (c *Creations) answer(name string) plugin.Reply {
	return func(ctx context.Context, call *plugin.Call) error {
		if c.over.Load() {
			return nil
		}
		for _, held := range c.Held {
			switch {
			case call.Event != plugin.Synchronize && call.Pod.GetName() != held.Pod():
			case held.hook == hook{name, call.Event}:
				return held.gate.Hold(ctx, call)
			case held.refused && call.Event == plugin.RunPodSandbox && name == "second":
				return errors.New("not this one")
			}
		}
		return nil
	}
}

// RequireHeld asks for the pods with a caller's context, and returns when each is
// held where it should be.
func (c *Creations) RequireHeld(ctx context.Context, t require.TestingT) {
	for _, held := range c.Held {
		if held.hook.plugin == "third" {
			joining := context.WithoutCancel(ctx) // it stays when the caller goes
			go func() { _ = c.Plugins["third"].Connect(joining, c.N.NRISocket()) }()
			RequireSoon(t, "a plugin to join", func(context.Context) error { return HasGot(c.Plugins["third"], plugin.Synchronize) })
		}
		held.Ran = InBackground(func() error {
			_, err := c.N.CRI().RunPod(ctx, held.config)
			return err
		})
	}
	for _, held := range c.Held {
		require.NoError(t, held.entered(ctx, c))
	}
}

// entered waits until a pod is held.
func (h *creation) entered(ctx context.Context, c *Creations) error {
	if h.hold != nil {
		return h.hold.Entered(ctx)
	}
	select {
	case <-h.gate.Entered():
	case err := <-h.Ran:
		return fmt.Errorf("pod %s was through before it was held: %w", h.Pod(), err)
	case <-ctx.Done():
		return fmt.Errorf("wait for pod %s to be held: %w", h.Pod(), ctx.Err())
	}
	if h.hook.event != plugin.Synchronize {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return wait.Until(ctx, "the plugins before", func(context.Context) error {
		return HasAnswered(c.Plugins["second"], plugin.RunPodSandbox)
	})
}

// Release lets all go on.
func (c *Creations) Release(t require.TestingT) {
	c.over.Store(true)
	for _, held := range c.Held {
		if held.gate != nil {
			held.gate.Release()
		} else {
			require.NoError(t, held.hold.Release())
		}
	}
}

// RequireRunAgain runs all the pods once more and ends them, since nothing of them
// can be left that is in the way.
func (c *Creations) RequireRunAgain(t require.TestingT, run func(context.Context, *runtime.PodSandboxConfig) (string, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var all sync.WaitGroup
	errs := make([]error, len(c.Held))
	for i, held := range c.Held {
		all.Go(func() {
			id, err := run(ctx, held.config)
			if err == nil {
				err = c.N.CRI().StopPod(ctx, id)
			}
			if err == nil {
				err = c.N.CRI().RemovePod(ctx, id)
			}
			errs[i] = err
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
}

// RequireEndsTold holds what plugins were told over their latest connections against the
// contract. All that they know of has ended.
func (c *Creations) RequireEndsTold(t require.TestingT) {
	for _, p := range c.Plugins {
		records := p.Calls().Connections()
		if len(records) == 0 {
			continue
		}
		reading := history.ReadLast(records, nil)
		assert.Empty(t, reading.Faults(), p.Name())
		assert.Empty(t, reading.Alive(), p.Name())
	}
}
