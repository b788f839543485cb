// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// timeout is NRI's request timeout on the demo's node: how long a plugin that hangs may block a
// request.
const timeout = time.Second

// Run plays the demo on a node of its own, and writes the result to out and the timeline into a
// folder. step announces steps that take a while. The node is removed when Run returns.
func Run(ctx context.Context, options node.Options, out io.Writer, folder string, step func(string) (end func())) (retErr error) {
	options.RequestTimeout = timeout
	end := step("start a private node")
	n, err := node.Start(ctx, options)
	end()
	if err != nil {
		return err
	}
	defer func() { retErr = errors.Join(retErr, n.Close()) }()

	c := newCast()
	defer c.leave()
	for _, p := range c.plugins {
		if err := p.Connect(ctx, n.NRISocket()); err != nil {
			return err
		}
	}
	s := &story{start: time.Now()}
	end = step("take pods through their life")
	err = s.play(ctx, n)
	end()
	if err != nil {
		return err
	}
	s.received = c.records()
	s.write(out)
	if err := s.draw(c.plugins, folder); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThese events are drawn in %s.\n", filepath.Join(folder, "demo.svg"))
	return nil
}

// cast are the plugins, in the order in which the runtime asks them.
type cast struct {
	plugins []*plugin.Plugin
	hang    *plugin.Gate
}

const rejectedPod = "rejected"

// newCast makes a plugin that fails every stop and removal and rejects one pod, a plugin that hangs
// when a pod stops, and one before and one after them that always succeed.
func newCast() *cast {
	c := &cast{hang: plugin.NewGate()}
	first := plugin.New("10", "first")

	fails := plugin.New("20", "fails")
	for _, end := range []plugin.Event{plugin.StopContainer, plugin.RemoveContainer, plugin.StopPodSandbox, plugin.RemovePodSandbox} {
		fails.On(end, plugin.Fail("teardown failed"))
	}
	fails.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
		if call.Pod.GetName() == rejectedPod {
			return errors.New("no room for this pod")
		}
		return nil
	})

	hangs := plugin.New("30", "hangs")
	hangs.On(plugin.StopPodSandbox, c.hang.Hold)

	c.plugins = []*plugin.Plugin{first, fails, hangs, plugin.New("40", "last")}
	return c
}

// record has the calls that one plugin received.
type record struct {
	name    string
	calls   plugin.Calls
	dropped bool // the runtime closed the connection
}

func (c *cast) records() []record {
	var records []record
	for _, p := range c.plugins {
		r := record{name: p.Name(), calls: p.Calls()}
		select {
		case <-p.Closed():
			r.dropped = true
		default:
		}
		records = append(records, r)
	}
	return records
}

// leave releases the plugin that hangs and closes the connections.
func (c *cast) leave() {
	c.hang.Release()
	for _, p := range c.plugins {
		p.Crash()
	}
}

// story is everything that happened.
type story struct {
	start    time.Time
	received []record // by plugin, in index order
	steps    []step
	left     []string // on the node, at the end
}

// step is one CRI request.
type step struct {
	what       string
	start, end time.Time
	err        error
}

func (s step) took() time.Duration { return s.end.Sub(s.start) }

// do makes a CRI request, and records its result.
func (s *story) do(what string, request func() error) error {
	st := step{what: what, start: time.Now()}
	st.err = request()
	st.end = time.Now()
	s.steps = append(s.steps, st)
	return st.err
}

// play has a pod rejected, and takes another one with a container through its life.
func (s *story) play(ctx context.Context, n *node.Node) error {
	client := n.CRI()
	_ = s.do("RunPodSandbox rejected", func() error { // the rejection is part of the story
		_, err := client.RunPod(ctx, client.Pod(rejectedPod))
		return err
	})
	var err error
	if s.left, err = leftovers(ctx, n); err != nil {
		return err
	}

	web := client.Pod("web")
	var pod, app string
	life := errors.Join(
		s.do("RunPodSandbox web", func() (err error) { pod, err = client.RunPod(ctx, web); return err }),
		s.do("CreateContainer app", func() (err error) { app, err = client.Create(ctx, pod, web, client.Container("app")); return err }),
		s.do("StartContainer app", func() error { return client.Start(ctx, app) }),
		n.Settled(ctx, app),
	)
	if life != nil {
		return life
	}
	return errors.Join(
		s.do("StopContainer app", func() error { return client.Stop(ctx, app, time.Second) }),
		s.do("RemoveContainer app", func() error { return client.Remove(ctx, app) }),
		s.do("StopPodSandbox web", func() error { return client.StopPod(ctx, pod) }),
		s.do("RemovePodSandbox web", func() error { return client.RemovePod(ctx, pod) }),
	)
}

// leftovers lists the leftovers on a node that should have no pods.
func leftovers(ctx context.Context, n *node.Node) ([]string, error) {
	found, err := n.Leftovers(ctx)
	if err != nil {
		return nil, err
	}
	left := make([]string, 0, len(found))
	for _, l := range found {
		left = append(left, fmt.Sprint(l))
	}
	return left, nil
}
