// SPDX-License-Identifier: Apache-2.0

package task

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	eventstypes "github.com/containerd/containerd/api/events"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/process"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/runc"
	"github.com/containerd/containerd/v2/core/events"
	"github.com/containerd/containerd/v2/pkg/shutdown"
	runcC "github.com/containerd/go-runc"
	"github.com/stretchr/testify/require"
)

// publisher publishes an event when the test receives its topic.
type publisher chan string

func (p publisher) Publish(_ context.Context, topic string, _ events.Event) error {
	p <- topic
	return nil
}

func (p publisher) Close() error { return nil }

// newShim returns a service with two events that are not published yet.
func newShim(t *testing.T) (*service, publisher) {
	ctx, sd := shutdown.WithShutdown(t.Context())
	p := make(publisher)
	s := &service{context: ctx, events: make(chan any, 3), shutdown: sd, flush: newFlush(), runningExecs: map[*runc.Container]int{}}
	sd.RegisterCallback(s.flush.wait)
	go s.forward(ctx, p)
	s.send(&eventstypes.TaskExit{ContainerID: "a"})
	s.send(&eventstypes.TaskDelete{ContainerID: "a"})
	return s, p
}

// exiting is a process that has exited. Its exit is noted when seen is closed.
type exiting struct {
	process.Process
	seen chan struct{}
}

func (e exiting) SetExited(int)       { <-e.seen }
func (e exiting) ID() string          { return "exec" }
func (e exiting) ExitedAt() time.Time { return time.Time{} }

func hasEnded(s *service) bool {
	synctest.Wait()
	return s.shutdown.Err() != nil
}

func TestShimPublishesItsEventsBeforeItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newShim(t)
		s.shutdown.Shutdown()
		for _, topic := range []string{"/tasks/exit", "/tasks/delete"} {
			require.False(t, hasEnded(s))
			require.Equal(t, topic, <-p)
		}
		require.True(t, hasEnded(s))
		require.ErrorIs(t, s.shutdown.Err(), shutdown.ErrShutdown)
	})
}

// The exit of a process is noticed, and its event is not in the queue yet.
func TestShimThatEndsWaitsForTheEventOfAnExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newShim(t)
		e := exiting{seen: make(chan struct{})}
		go s.handleProcessExit(runcC.Exit{}, &runc.Container{ID: "b"}, e)
		synctest.Wait()
		s.shutdown.Shutdown()
		require.Equal(t, "/tasks/exit", <-p)
		require.Equal(t, "/tasks/delete", <-p)
		require.False(t, hasEnded(s))
		close(e.seen)
		require.False(t, hasEnded(s))
		require.Equal(t, "/tasks/exit", <-p)
		require.True(t, hasEnded(s))
	})
}

func TestEventsArePublishedThoughTheShutdownFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newShim(t)
		s.shutdown.RegisterCallback(func(context.Context) error { return errors.New("no") })
		s.shutdown.Shutdown()
		for range 2 {
			require.False(t, hasEnded(s))
			<-p
		}
		require.True(t, hasEnded(s))
	})
}

func TestShimEndsThoughAnEventCannotBePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newShim(t)
		s.shutdown.Shutdown()
		require.False(t, hasEnded(s))
		time.Sleep(flushTimeout)
		require.True(t, hasEnded(s))
		require.Equal(t, "/tasks/exit", <-p)
		require.Equal(t, "/tasks/delete", <-p)
	})
}
