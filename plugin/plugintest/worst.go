// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"
)

// A Subject is a plugin under test that holds something for each pod.
type Subject struct {
	// Run registers the plugin at a socket, and registers it again when its connection ends. It
	// returns when ctx has ended. It is called again for a plugin that restarts, and has to find
	// then what the plugin has kept: Run may start a process, and kill it at the end.
	Run func(ctx context.Context, socket string) error
	// Held returns the ids of the pods that the plugin holds something for.
	Held func() ([]string, error)
}

const (
	patience = 30 * time.Second // for a case: a plugin may wait a while before it registers again
	settling = 3 * time.Second  // for a plugin that takes or frees in the background
)

// Worst plays to a plugin what the contract allows and what happens rarely: events that come twice, ends
// without a beginning, ends that are missed, pods in creation when it joins, restarts between events and
// during them. The plugin has to hold something for a pod from RunPodSandbox to StopPodSandbox. Each case
// has a plugin of its own, from newSubject, and asks what the plugin holds after each event, and once more
// when the plugin has ended.
func Worst(t *testing.T, newSubject func(t *testing.T) Subject) {
	for _, c := range worst {
		t.Run(c.name, func(t *testing.T) {
			if err := c.play(t.Context(), newSubject(t), settling); err != nil {
				t.Error(err)
			}
		})
	}
}

// play plays a case to a plugin. The error names the step that went wrong.
func (c play) play(ctx context.Context, subject Subject, settling time.Duration) error {
	folder, err := os.MkdirTemp("", "nri") // that of a test may be too long for a socket
	if err != nil {
		return fmt.Errorf("make a folder for the runtime: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s := &stage{runtime: NewRuntime(folder), subject: subject, settling: settling}
	defer s.runtime.Stop()
	for n, step := range c.steps {
		if err := step.do(ctx, s); err != nil {
			return errors.Join(fmt.Errorf("step %d, %s: %w", n+1, step.name, err), s.leave(ctx))
		}
	}
	if err := s.leave(ctx); err != nil {
		return err
	}
	return s.holds(ctx, s.held)
}

// A stage is what a case plays on.
type stage struct {
	runtime *Runtime
	subject Subject
	plugin  *running // nil while it does not run
	joins   int

	settling time.Duration
	held     []string // what the plugin should hold, as of the last check
}

// running is a plugin that runs.
type running struct {
	ctx    context.Context // of Run; its cause says that the plugin has ended
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // of Run, once ended is closed
}

// join starts the plugin, and waits until it is synchronized.
func (s *stage) join(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	p := &running{ctx: ctx, cancel: func() { end(nil) }, ended: make(chan struct{})}
	s.plugin = p
	go func() {
		defer close(p.ended)
		p.err = s.subject.Run(ctx, s.runtime.Socket())
		end(fmt.Errorf("the plugin has ended: %w", cmp.Or(p.err, io.EOF)))
	}()
	return s.joined()
}

// joined waits until the plugin is synchronized once more, unless it ends.
func (s *stage) joined() error {
	s.joins++
	if err := s.runtime.Joined(s.plugin.ctx, s.joins); err != nil {
		return errors.Join(err, context.Cause(s.plugin.ctx))
	}
	return nil
}

// leave ends the plugin, if it runs.
func (s *stage) leave(ctx context.Context) error {
	p := s.plugin
	if p == nil {
		return nil
	}
	s.plugin = nil
	p.cancel()
	select {
	case <-p.ended:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("wait for the plugin to end: %w", ctx.Err())
	}
}

// holds waits until the plugin holds what it should.
func (s *stage) holds(ctx context.Context, want []string) error {
	s.held = want
	ctx, cancel := context.WithTimeout(ctx, s.settling)
	defer cancel()
	for {
		got, err := s.subject.Held()
		if err != nil {
			return err
		}
		slices.Sort(got)
		if slices.Equal(got, want) {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the plugin holds something for pods %q", got)
		}
	}
}
