// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestL1_PluginsAreAskedInIndexOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.joined(newPlugin("20-b"), newPlugin("10-a"), newPlugin("20-c"), newPlugin("05-d"))
		var order []string
		err := f.Ask(t.Context(), event("CreateContainer:p1/c1"), func(c Connection, _ any) error {
			order = append(order, c.Name())
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"05-d", "10-a", "20-b", "20-c"}, order)
	})
}

// The reply of a plugin is in the request before the next plugin receives it.
func TestL1_ReplyIsAppliedBeforeTheNextIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var seen []string
		for _, name := range []string{"10-a", "20-b", "30-c"} {
			p := newPlugin(name)
			p.handle = func(_ context.Context, ev Event) (any, error) {
				seen = append(seen, *ev.Request.(*string))
				return p.name, nil
			}
			f.joined(p)
		}
		quiet := newPlugin("15-q")
		quiet.wants = none
		f.joined(quiet)

		request := "runtime"
		ev := event("CreateContainer:p1/c1")
		ev.Request = &request
		err := f.Ask(t.Context(), ev, func(c Connection, reply any) error {
			if reply == nil {
				assert.Equal(t, "15-q", c.Name(), "only a plugin that did not subscribe has no reply")
				return nil
			}
			request += "+" + reply.(string)
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"runtime", "runtime+10-a", "runtime+10-a+20-b"}, seen)
	})
}

func TestL7_PluginsThatWereAskedReceiveTheEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, b, c := newPlugin("10-a"), newPlugin("20-b").reject(RunPodSandbox), newPlugin("30-c")
		f.joined(a, b, c)

		ctx, cancel := context.WithCancel(t.Context())
		err := f.ask(ctx, "RunPodSandbox:p1")
		require.ErrorIs(t, err, errRejected)
		cancel() // the caller's context has ended; the roll back has its own
		require.NoError(t, f.Teardown(ctx, []Event{event("StopPodSandbox:p1"), event("RemovePodSandbox:p1")}, nil))

		const life = "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1"
		assert.Equal(t, life, a.received())
		assert.Equal(t, life, b.received(), "a plugin that rejected may have acted on it")
		assert.Equal(t, "Synchronize()", c.received(), "a plugin that was not asked receives nothing")
	})
}

func TestL7_ErrorOfTheCallerIsARejection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, b := newPlugin("10-a"), newPlugin("20-b")
		f.joined(a, b)
		conflict := errors.New("conflicting adjustment")
		err := f.Ask(t.Context(), event("CreateContainer:p1/c1"), func(Connection, any) error { return conflict })
		require.ErrorIs(t, err, conflict)
		assert.Equal(t, "Synchronize()", b.received())
	})
}

// The caller cancels while its Run waits behind that of another pod.
func TestL3_CanceledRequestInTheLineIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, b := newPlugin("10-a"), newPlugin("20-b")
		b.handle = func(ctx context.Context, ev Event) (any, error) {
			if ev.Pod == "slow" {
				time.Sleep(time.Second)
			}
			return nil, nil
		}
		f.joined(a, b)
		slow := make(chan error)
		go func() { slow <- f.ask(t.Context(), "RunPodSandbox:slow") }()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		start := time.Now()
		err := f.ask(ctx, "RunPodSandbox:p1")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "RunPodSandbox of pod p1: waiting for plugin 20-b")
		assert.Equal(t, butForTheUndo(time.Second/2), time.Since(start))
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		require.NoError(t, <-slow)

		assert.NotContains(t, b.received(), ":p1")
		assert.Contains(t, a.received(), "RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1")
		assert.Contains(t, f.journal.outcomes(RunPodSandbox), "20-b withdrawn")
		assert.False(t, b.isClosed(), "a caller that cancels does not fail the plugin")
	})
}

// If the caller's context has ended, no plugin is asked.
func TestL3_DeadCallerSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.joined(a)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, f.ask(ctx, "RunPodSandbox:p1"), context.Canceled)
		assert.Equal(t, "Synchronize()", a.received())
	})
}

func TestL3_EventsOfUnknownObjectsAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.joined(a)
		f.did("UpdatePodSandbox:p1", "StartContainer:p1/c1", "UpdateContainer:p1/c1")
		require.NoError(t, f.end("StopContainer:p1/c1", "RemoveContainer:p1/c1", "StopPodSandbox:p1", "RemovePodSandbox:p1"))
		assert.Equal(t, "Synchronize()", a.received())
	})
}

func TestL11_NoContainerIsCreatedInAStoppedPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.joined(a)
		f.did("RunPodSandbox:p1")
		require.NoError(t, f.end("StopPodSandbox:p1"))
		err := f.ask(t.Context(), "CreateContainer:p1/c1")
		require.ErrorIs(t, err, ErrStopped)
		require.ErrorContains(t, err, "CreateContainer of container c1 of pod p1")
		assert.NotContains(t, a.received(), "c1")
	})
}

// A pod may be gone before the creation of its container gets that far.
func TestL11_NoContainerIsCreatedInAPodThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.joined(a)
		f.did("RunPodSandbox:p1")
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		f.joined(newPlugin("20-b")) // the runtime's list is without it
		time.Sleep(vanishes)
		f.joined(newPlugin("30-c"))
		require.ErrorIs(t, f.ask(t.Context(), "CreateContainer:p1/c1"), ErrStopped)
		assert.NotContains(t, a.received(), "c1")
		assert.Empty(t, f.Status().Creations)
	})
}

// A pod is stopped while a container is being created in it. Plugins that were asked receive the
// container's Stop before the pod's, the others receive nothing of the container, and the
// creation fails.
func TestL1_PodStopsDuringTheCreationOfAContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, b, c := newPlugin("10-a"), newPlugin("20-b"), newPlugin("30-c")
		b.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == CreateContainer {
				time.Sleep(time.Second)
			}
			return nil, nil
		}
		f.joined(a, b, c)
		f.did("RunPodSandbox:p1")
		created := make(chan error)
		go func() { created <- f.ask(t.Context(), "CreateContainer:p1/c1") }()
		synctest.Wait()

		require.NoError(t, f.end("StopPodSandbox:p1"))
		require.ErrorIs(t, <-created, ErrStopped)
		require.NoError(t, f.end("StopContainer:p1/c1", "RemoveContainer:p1/c1"))
		require.NoError(t, f.end("RemovePodSandbox:p1"))

		const life = "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1 StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1"
		assert.Equal(t, life, a.received())
		assert.Equal(t, life, b.received())
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1", c.received())
	})
}

// This holds without plugins and subscriptions, too: the runtime must not start an object whose
// end was or will be delivered.
func TestL11_NoContainerIsStartedInAStoppedPod(t *testing.T) {
	for name, join := range map[string]func() []*plugin{
		"without plugins": func() []*plugin { return nil },
		"with a plugin":   func() []*plugin { return []*plugin{newPlugin("10-a")} },
		"not subscribed":  func() []*plugin { return []*plugin{{name: "10-a", closed: make(chan struct{}), wants: none}} },
	} {
		for _, ended := range []string{"StopPodSandbox:p1", "StopContainer:p1/c1"} {
			t.Run(name+" "+ended, func(t *testing.T) {
				f, plugins := newFixture(t), join()
				f.joined(plugins...)
				f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "PostCreateContainer:p1/c1")
				require.NoError(t, f.end(ended))
				err := f.ask(t.Context(), "StartContainer:p1/c1")
				require.ErrorIs(t, err, ErrStopped)
				require.ErrorContains(t, err, "StartContainer of container c1 of pod p1")
				for _, p := range plugins {
					assert.NotContains(t, p.received(), "StartContainer")
				}
				f.Close()
			})
		}
	}
}

// A pod is stopped while the start of its container is asked for. Plugins that were not asked yet
// are not asked, and the start fails, also if no plugin is left to ask.
func TestL1_PodStopsDuringTheStartOfAContainer(t *testing.T) {
	for _, names := range [][]string{{"10-a"}, {"10-a", "20-b"}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			var plugins []*plugin
			for _, name := range names {
				p := newPlugin(name)
				p.handle = func(_ context.Context, ev Event) (any, error) {
					if ev.Kind == StartContainer {
						time.Sleep(time.Second)
					}
					return nil, nil
				}
				plugins = append(plugins, p)
			}
			f.joined(plugins...)
			f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "PostCreateContainer:p1/c1")
			started := make(chan error)
			go func() { started <- f.ask(t.Context(), "StartContainer:p1/c1") }()
			synctest.Wait()

			require.NoError(t, f.end("StopPodSandbox:p1"))
			require.ErrorIs(t, <-started, ErrStopped)
			const life = "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1 PostCreateContainer:p1/c1 "
			assert.Equal(t, life+"StartContainer:p1/c1 StopContainer:p1/c1 StopPodSandbox:p1", plugins[0].received())
			for _, p := range plugins[1:] {
				assert.Equal(t, life+"StopContainer:p1/c1 StopPodSandbox:p1", p.received())
			}
		})
	}
}

// Plugins that validate a container are asked at the same time: together they take as long as the
// slowest of them. The error is that of the first plugin that rejects.
func TestValidatorsAreAskedSideBySide(t *testing.T) {
	for _, rejects := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			for _, name := range []string{"10-a", "20-b", "30-c"} {
				p := newPlugin(name)
				p.handle = func(_ context.Context, ev Event) (any, error) {
					if ev.Kind != ValidateContainerAdjustment {
						return nil, nil
					}
					time.Sleep(requestTimeout / 2)
					if rejects && name != "10-a" {
						return nil, errRejected
					}
					return nil, nil
				}
				f.joined(p)
			}
			f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
			start := time.Now()
			err := f.ask(t.Context(), "ValidateContainerAdjustment:p1/c1")
			assert.Equal(t, requestTimeout/2, time.Since(start))
			if !rejects {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, errRejected)
			assert.ErrorContains(t, err, "20-b")
		})
	}
}

func TestAskIsNotForEnds(t *testing.T) {
	f := newFixture(t)
	for _, ev := range []string{"StopPodSandbox:p1", "RemoveContainer:p1/c1", "Synchronize:"} {
		assert.Error(t, f.ask(t.Context(), ev))
	}
	assert.Error(t, f.Teardown(t.Context(), []Event{event("RunPodSandbox:p1")}, nil))
}
