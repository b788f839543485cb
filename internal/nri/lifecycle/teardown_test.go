// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// joinedHung connects a plugin that hangs in events of a kind and stays connected.
func (f *fixture) joinedHung(in Kind) *plugin {
	p := newPlugin("10-a").hang(in)
	p.keepConnected = true
	f.joined(p)
	return p
}

// Five plugins hang. The sixth still receives the stop, and the teardown takes one request
// timeout.
func TestL9_AllReceiveAStopAtOnceHoweverManyHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var hung []*plugin
		for i := range 5 {
			p := newPlugin(fmt.Sprintf("1%d-hung", i)).hang(StopPodSandbox)
			p.failRequest = true
			hung = append(hung, p)
		}
		last := newPlugin("90-last")
		var received time.Time
		last.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == StopPodSandbox {
				received = time.Now()
			}
			return nil, nil
		}
		f.joined(append(hung, last)...)
		f.did("RunPodSandbox:p1")

		start := time.Now()
		err := f.end("StopPodSandbox:p1")
		assert.Equal(t, requestTimeout, time.Since(start))
		assert.Equal(t, start, received)
		for _, p := range hung {
			assert.ErrorContains(t, err, p.name)
		}
	})
}

// A teardown waits for a Stop that hangs for one timeout. Later events follow in order once the
// plugin has answered.
func TestL9_HungStopGoesOnInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.TeardownWait = func() time.Duration { return requestTimeout / 2 }
		})
		a := f.joinedHung(StopPodSandbox)
		f.did("RunPodSandbox:p1")

		start := time.Now()
		require.NoError(t, f.end("StopPodSandbox:p1"))
		assert.Equal(t, requestTimeout/2, time.Since(start))

		// The Remove waits behind the Stop, and so does the next pod's Run. The pod goes on
		// without the plugin when that is overdue. The plugin receives both when it has answered.
		removed, run := make(chan error), make(chan error)
		go func() { removed <- f.end("RemovePodSandbox:p1") }()
		synctest.Wait()
		go func() { run <- f.ask(t.Context(), "RunPodSandbox:p2") }()
		require.NoError(t, <-removed)
		require.NoError(t, <-run)
		assert.Equal(t, requestTimeout, time.Since(start))
		time.Sleep(transit)
		synctest.Wait()
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1 RunPodSandbox:p2", a.received())
		assert.Equal(t, "10-a timed out late", f.journal.outcomes(StopPodSandbox))
	})
}

// The next pod's Run, behind a plugin that hangs, has its own bound.
func TestL13_RunBehindAHungStopHasItsOwnBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := f.joinedHung(StopPodSandbox)
		f.did("RunPodSandbox:p1")
		go f.end("StopPodSandbox:p1")
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), requestTimeout/4)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, f.ask(ctx, "RunPodSandbox:p2"), context.DeadlineExceeded)
		assert.Equal(t, butForTheUndo(requestTimeout/4), time.Since(start))
		assert.NotContains(t, a.received(), "p2")
	})
}

// A teardown waits for a chain of ends no longer than for one end.
func TestL9_ManyContainersAreOneWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := f.joinedHung(StopContainer)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "CreateContainer:p1/c2", "CreateContainer:p1/c3")
		start := time.Now()
		require.NoError(t, f.end("StopContainer:p1/c1", "StopContainer:p1/c2", "StopContainer:p1/c3", "StopPodSandbox:p1"))
		assert.Equal(t, requestTimeout, time.Since(start))
		time.Sleep(3 * requestTimeout)
		assert.Contains(t, a.received(), "StopContainer:p1/c1 StopContainer:p1/c2 StopContainer:p1/c3 StopPodSandbox:p1")
	})
}

// A teardown returns an error for a plugin that does not answer an end only if that is the
// plugin's policy (L16): some runtimes fail a stop for any error.
func TestL8_UnansweredEventIsAnErrorByPolicy(t *testing.T) {
	for failure, end := range map[Failure]func(f *fixture, p *plugin) error{
		Timeout: func(f *fixture, _ *plugin) error { return f.end("StopPodSandbox:p1") },
		Skip: func(f *fixture, _ *plugin) error {
			go f.end("StopPodSandbox:p1")
			time.Sleep(requestTimeout / 2)
			return f.end("StopPodSandbox:p2")
		},
		Loss: func(f *fixture, p *plugin) error {
			time.AfterFunc(requestTimeout/2, p.Close)
			return f.end("StopPodSandbox:p1")
		},
	} {
		for _, failRequest := range []bool{false, true} {
			t.Run(fmt.Sprint(failure, " ", failRequest), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFixture(t)
					p := newPlugin("10-a").hang(StopPodSandbox)
					p.keepConnected, p.failRequest = true, failRequest
					f.joined(p, newPlugin("20-b"))
					f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
					err := end(f, p)
					if !failRequest {
						require.NoError(t, err)
						return
					}
					var failed *Error
					require.ErrorAs(t, err, &failed)
					assert.Equal(t, failure, failed.Failure)
					assert.Equal(t, StopPodSandbox, failed.Event.Kind)
					assert.Equal(t, "10-a", failed.Conn.Name())
				})
			})
		}
	}
}

func TestL8_FailingPluginsFailNoTeardown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a, b := newPlugin("10-a").reject(StopPodSandbox), newPlugin("20-b")
		a.failRequest = true
		f.joined(a, b)
		f.did("RunPodSandbox:p1")
		err := f.end("StopPodSandbox:p1")
		require.ErrorIs(t, err, errRejected)
		require.ErrorContains(t, err, "StopPodSandbox of pod p1: plugin 10-a")
		require.NoError(t, f.end("RemovePodSandbox:p1"))
		const life = "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1"
		assert.Equal(t, life, a.received())
		assert.Equal(t, life, b.received())
	})
}

func TestL11_RepeatedEndsSendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		for range 3 {
			require.NoError(t, f.end("StopContainer:p1/c1"))
		}
		for range 3 {
			require.NoError(t, f.end("StopContainer:p1/c1", "StopPodSandbox:p1"))
		}
		f.did("UpdatePodSandbox:p1")
		require.ErrorIs(t, f.ask(t.Context(), "StartContainer:p1/c1"), ErrStopped)
		for range 3 {
			require.NoError(t, f.end("RemoveContainer:p1/c1", "RemovePodSandbox:p1"))
		}
		require.NoError(t, f.end("StopPodSandbox:p1"))
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1 StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1", a.received())
	})
}

// Two stops at once: the second must not remove the network while a plugin handles the first.
func TestL10_SecondStopWaitsForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == StopPodSandbox {
				time.Sleep(time.Second)
			}
			return nil, nil
		}
		f.joined(a)
		f.did("RunPodSandbox:p1")
		start := time.Now()
		done := make(chan time.Duration, 3)
		for range 3 {
			go func() {
				f.end("StopPodSandbox:p1")
				done <- time.Since(start)
			}()
		}
		for range 3 {
			assert.Equal(t, time.Second, <-done)
		}
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1", a.received())
	})
}

// The retries of a kubelet do not fill the line of a plugin that hangs.
func TestL11_RepeatedEndsShareOnePlaceInTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.joinedHung(StopPodSandbox)
		f.did("RunPodSandbox:p1", "RunPodSandbox:p2")
		for range 10 {
			go f.end("StopPodSandbox:p1")
			go f.end("StopPodSandbox:p2")
		}
		synctest.Wait()
		assert.Equal(t, 1, f.Status().Connections[0].Depth)
	})
}

// A teardown waits for the pending end of another teardown only if that end covers all of its
// own.
func TestL9_EndsThatAreNotTheSameAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := f.joinedHung(UpdatePodSandbox)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "CreateContainer:p1/c2")
		go f.ask(t.Context(), "UpdatePodSandbox:p1")
		synctest.Wait()
		go f.end("StopContainer:p1/c2")
		synctest.Wait()
		go f.end("StopContainer:p1/c1", "StopContainer:p1/c2")
		go f.end("StopPodSandbox:p1")
		synctest.Wait()
		go f.end("RemoveContainer:p1/c1", "StopPodSandbox:p1")
		time.Sleep(requestTimeout + transit)
		synctest.Wait()
		assert.Contains(t, a.received(), "StopContainer:p1/c2 StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1")
	})
}

// A plugin receives in order also the ends that the runtime does not hand in.
func TestL1_ImpliedEndsAreSentInTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.ImpliedEnd = func(k Kind, container string, of Event) any {
				return fmt.Sprintf("%s %s for %s", k, container, of.Kind)
			}
		})
		a := newPlugin("10-a")
		requests := make(map[Kind]any)
		a.handle = func(_ context.Context, ev Event) (any, error) {
			requests[ev.Kind] = ev.Request
			return nil, nil
		}
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c2", "CreateContainer:p1/c1", "RunPodSandbox:p2")
		f.did("PostCreateContainer:p1/c1", "PostCreateContainer:p1/c2")
		require.NoError(t, f.Teardown(t.Context(), []Event{{Kind: RemovePodSandbox, Pod: "p1", Request: "mine"}}, nil))
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c2 CreateContainer:p1/c1 RunPodSandbox:p2 "+
			"PostCreateContainer:p1/c1 PostCreateContainer:p1/c2 StopContainer:p1/c1 StopContainer:p1/c2 RemoveContainer:p1/c1 RemoveContainer:p1/c2 StopPodSandbox:p1 RemovePodSandbox:p1", a.received())
		assert.Equal(t, "StopContainer c2 for RemovePodSandbox", requests[StopContainer])
		assert.Equal(t, "StopPodSandbox  for RemovePodSandbox", requests[StopPodSandbox])
		assert.Equal(t, "mine", requests[RemovePodSandbox])
	})
}

func TestL3_UnsubscribedFirstEventsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		a.wants = func(k Kind) bool { return k.Final() }
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "StartContainer:p1/c1")
		require.NoError(t, f.end("RemovePodSandbox:p1"))
		assert.Equal(t, "Synchronize() StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1 RemovePodSandbox:p1", a.received())
	})
}

// Replies are applied in index order once all plugins have answered, whichever answered first.
func TestL9_RepliesAreAppliedInIndexOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for i, name := range []string{"10-a", "20-b", "30-c", "40-d"} {
			p := newPlugin(name)
			p.handle = func(ctx context.Context, ev Event) (any, error) {
				if ev.Kind != StopContainer {
					return nil, nil
				}
				if name == "30-c" {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				time.Sleep(time.Duration(4-i) * time.Millisecond)
				return "update of " + name, nil
			}
			f.joined(p)
		}
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		var applied []any
		require.NoError(t, f.Teardown(t.Context(), []Event{event("StopContainer:p1/c1")}, func(c Connection, ev Event, reply any) {
			assert.Equal(t, StopContainer, ev.Kind)
			applied = append(applied, reply)
		}))
		assert.Equal(t, []any{"update of 10-a", "update of 20-b", "update of 40-d"}, applied)
	})
}

// A container that all plugins have approved ends with its pod, before the runtime lists it.
func TestL3_SealedCreationEndsWithItsPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.ImpliedEnd = func(k Kind, _ string, of Event) any { return of.Request }
		})
		a := newPlugin("10-a")
		var request any
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == StopContainer {
				request = ev.Request
			}
			return nil, nil
		}
		f.joined(a)
		f.did("RunPodSandbox:p1")
		ev := event("CreateContainer:p1/c1")
		ev.Request = "the container"
		require.NoError(t, f.Ask(t.Context(), ev, nil))
		require.Len(t, f.Status().Creations, 1)
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1 StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1", a.received())
		assert.Equal(t, "the container", request)
		assert.Empty(t, f.Status().Creations)
	})
}

// A second stop of a pod waits for the plugin as long as the first: until the plugin's timeout
// has passed, though it still handles the event.
func TestL10_SecondStopWaitsForTheTimeoutOfTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		hung := newPlugin("10-hung").hang(StopPodSandbox)
		hung.keepConnected = true
		f.joined(hung)
		f.did("RunPodSandbox:p1")
		start := time.Now()
		first := make(chan error, 1)
		go func() { first <- f.end("StopPodSandbox:p1") }()
		time.Sleep(time.Millisecond)
		require.NoError(t, f.end("StopPodSandbox:p1"))
		assert.Equal(t, requestTimeout, time.Since(start))
		require.NoError(t, <-first)
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1", hung.received())
	})
}
