// SPDX-License-Identifier: Apache-2.0

package integration

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

	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// creations are pods that are held at the points of a wave.
type creations struct {
	n       *node.Node
	plugins map[string]*plugin.Plugin
	held    []*creation
	over    atomic.Bool // plugins agree to all from here on
}

// creation is a pod that is held at a point.
type creation struct {
	point
	config *runtime.PodSandboxConfig
	gate   *plugin.Gate // nil if a program holds it
	hold   *node.Hold
	ran    <-chan error
}

// pluginLoopback has a CNI plugin bring up the loopback interface, which a creation can be
// cut in, too.
const pluginLoopback = `version = 3
[plugins.'io.containerd.cri.v1.runtime'.cni]
use_internal_loopback = false
`

// newCreations starts a node with plugins for the points of a wave.
func newCreations(t *testing.T, w wave) *creations {
	t.Helper()
	if err := w.needs(); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	} else {
		require.NoError(t, err)
	}
	n := startNode(t, func(o *node.Options) {
		o.RequestTimeout, o.RegistrationTimeout = 30*time.Second, 10*time.Second
		o.Chained = true
		o.Config = pluginLoopback
	})
	c := &creations{n: n, plugins: map[string]*plugin.Plugin{
		"first": plugin.New("10", "first"), "second": plugin.New("20", "second"), "third": plugin.New("30", "third"),
	}}
	for _, p := range w.points {
		created := &creation{point: p, config: p.config(n)}
		if p.hook.event != "" {
			created.gate = newGate(t)
		} else {
			var err error
			created.hold, err = n.HoldAt(p.program, p.pod())
			require.NoError(t, err)
		}
		c.held = append(c.held, created)
	}
	for name, p := range c.plugins {
		t.Cleanup(p.Crash)
		for _, event := range []plugin.Event{plugin.Synchronize, plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox} {
			p.On(event, c.answer(name))
		}
	}
	return c
}

// answer holds and refuses what the points say.
func (c *creations) answer(name string) plugin.Reply {
	return func(ctx context.Context, call *plugin.Call) error {
		if c.over.Load() {
			return nil
		}
		for _, held := range c.held {
			switch {
			case call.Event != plugin.Synchronize && call.Pod.GetName() != held.pod():
			case held.hook == hook{name, call.Event}:
				return held.gate.Hold(ctx, call)
			case held.refused && call.Event == plugin.RunPodSandbox && name == "second":
				return errors.New("not this one")
			}
		}
		return nil
	}
}

// requireHeld asks for the pods with a caller's context, and returns when each is
// held where it should be.
func (c *creations) requireHeld(ctx context.Context, t require.TestingT) {
	for _, held := range c.held {
		if held.hook.plugin == "third" {
			joining := context.WithoutCancel(ctx) // it stays when the caller goes
			go func() { _ = c.plugins["third"].Connect(joining, c.n.NRISocket()) }()
			requireSoon(t, "a plugin to join", func(context.Context) error { return hasGot(c.plugins["third"], plugin.Synchronize) })
		}
		held.ran = inBackground(func() error {
			_, err := c.n.CRI().RunPod(ctx, held.config)
			return err
		})
	}
	for _, held := range c.held {
		require.NoError(t, held.entered(ctx, c))
	}
}

// entered waits until a pod is held.
func (h *creation) entered(ctx context.Context, c *creations) error {
	if h.hold != nil {
		return h.hold.Entered(ctx)
	}
	select {
	case <-h.gate.Entered():
	case err := <-h.ran:
		return fmt.Errorf("pod %s was through before it was held: %w", h.pod(), err)
	case <-ctx.Done():
		return fmt.Errorf("wait for pod %s to be held: %w", h.pod(), ctx.Err())
	}
	if h.hook.event != plugin.Synchronize {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return wait.Until(ctx, "the plugins before", func(context.Context) error {
		return hasAnswered(c.plugins["second"], plugin.RunPodSandbox)
	})
}

// release lets all go on.
func (c *creations) release(t require.TestingT) {
	c.over.Store(true)
	for _, held := range c.held {
		if held.gate != nil {
			held.gate.Release()
		} else {
			require.NoError(t, held.hold.Release())
		}
	}
}

// requireRunAgain runs all the pods once more and ends them, since nothing of them
// can be left that is in the way.
func (c *creations) requireRunAgain(t require.TestingT, run func(context.Context, *runtime.PodSandboxConfig) (string, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var all sync.WaitGroup
	errs := make([]error, len(c.held))
	for i, held := range c.held {
		all.Go(func() {
			id, err := run(ctx, held.config)
			if err == nil {
				err = c.n.CRI().StopPod(ctx, id)
			}
			if err == nil {
				err = c.n.CRI().RemovePod(ctx, id)
			}
			errs[i] = err
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
}

// requireEndsTold holds what plugins were told over their latest connections against the
// contract. All that they know of has ended.
func (c *creations) requireEndsTold(t require.TestingT) {
	for _, p := range c.plugins {
		records := p.Calls().Connections()
		if len(records) == 0 {
			continue
		}
		reading := history.Read(records[len(records)-1], nil, records[:len(records)-1]...)
		assert.Empty(t, reading.Faults(), p.Name())
		assert.Empty(t, reading.Alive(), p.Name())
	}
}
