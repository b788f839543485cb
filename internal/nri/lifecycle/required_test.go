// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requiredWait is how long the tests wait for a plugin that is disconnected.
const requiredWait = 10 * time.Second

// requires has every pod and container require plugins.
func requires(plugins ...string) func(*Options) {
	return func(o *Options) {
		o.Required = func(context.Context, Event) ([]Requirement, error) {
			var rs []Requirement
			for _, p := range plugins {
				rs = append(rs, Requirement{Plugin: p, Wait: requiredWait})
			}
			return rs, nil
		}
	}
}

// unmet sends an event that must fail because it lacks a plugin.
func (f *fixture) unmet(ctx context.Context, ev, plugin string) *Unmet {
	f.t.Helper()
	var u *Unmet
	require.ErrorAs(f.t, f.ask(ctx, ev), &u)
	assert.Equal(f.t, plugin, u.Plugin)
	return u
}

// asking sends an event and returns its result.
func (f *fixture) asking(ev string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f.ask(f.t.Context(), ev) }()
	return done
}

func TestL20_PodWaitsForADisconnectedPluginThenIsRejected(t *testing.T) {
	for _, ev := range []string{"RunPodSandbox:p1", "CreateContainer:p1/c1"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, requires("must"))
			other := newPlugin("10-other")
			f.joined(other)
			time.Sleep(time.Minute)
			start := time.Now()
			u := f.unmet(t.Context(), ev, "must")
			assert.Equal(t, requiredWait, time.Since(start))
			assert.Equal(t, f.since, u.Disconnected, "it was never connected")
			assert.Equal(t, requiredWait, u.Waited)
			require.NoError(t, u.Err)
			require.EqualError(t, u, event(ev).String()+": required plugin must is disconnected since "+
				f.since.UTC().Format(time.RFC3339)+", for 1m10s (waited for it for 10s)")
			assert.Equal(t, "Synchronize()", other.received(), "no event of a creation that has to fail")
			assert.Equal(t, []string{ev + " must 10s"}, f.journal.awaited)
			assert.Equal(t, []*Unmet{u}, f.journal.rejected)
		})
	}
}

func TestL20_PodWaitsForAPluginThatConnects(t *testing.T) {
	for _, name := range []string{"20-must", "90-must"} { // with any index
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, requires("must"))
			other, first, must := newPlugin("10-other"), newPlugin("20-must"), newPlugin(name)
			f.joined(other, first)
			f.did("RunPodSandbox:p0")
			first.Close()
			synctest.Wait()
			ran := f.asking("RunPodSandbox:p1")
			time.Sleep(requiredWait - time.Second)
			require.Empty(t, ran)
			status := f.Status().Creations
			require.Len(t, status, 1)
			assert.Equal(t, "must", status[0].Lacks)
			assert.Equal(t, requiredWait-time.Second, time.Since(status[0].LacksSince))
			f.joined(must)
			require.NoError(t, <-ran)
			assert.Equal(t, "Synchronize() RunPodSandbox:p1", must.received())
			assert.Equal(t, "Synchronize() RunPodSandbox:p0 RunPodSandbox:p1", other.received())
			assert.Equal(t, []string{"RunPodSandbox:p1 must 9s"}, f.journal.awaited)
		})
	}
}

// closesUnnoticed starts the creation of a pod. The plugin closes while another one is asked
// before it.
func (f *fixture) closesUnnoticed(must *unnoticed) (ran <-chan error) {
	other := newPlugin("10-other")
	other.handle = func(context.Context, Event) (any, error) {
		must.Close()
		return nil, nil
	}
	f.joined(other)
	require.NoError(f.t, f.Join(f.t.Context(), must, must.sync))
	synctest.Wait()
	ran = f.asking("RunPodSandbox:p1")
	synctest.Wait()
	return ran
}

// A runtime waits before it makes anything of a pod, and once more at the hook for a plugin that
// has disconnected meanwhile. Both waits together last as long as is set.
func TestL20_WaitBeforeAnythingIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		other := newPlugin("10-other")
		f.joined(other)
		type answer struct {
			ctx context.Context
			err error
		}
		await := func() <-chan answer {
			done := make(chan answer, 1)
			go func() {
				ctx, err := f.Await(t.Context(), event("RunPodSandbox:p1"))
				done <- answer{ctx, err}
			}()
			return done
		}
		came := await()
		time.Sleep(requiredWait - time.Second)
		assert.Equal(t, "must", f.Status().Creations[0].Lacks)
		must := newPlugin("20-must")
		f.joined(must)
		early := <-came
		require.NoError(t, early.err)
		assert.Empty(t, f.Status().Creations)
		assert.Equal(t, "Synchronize()", must.received(), "it is asked at the hook")

		must.Close()
		synctest.Wait()
		start := time.Now()
		var u *Unmet
		require.ErrorAs(t, f.ask(early.ctx, "RunPodSandbox:p1"), &u)
		assert.Equal(t, time.Second, time.Since(start), "the rest of the wait")
		assert.Equal(t, requiredWait, u.Waited)
		assert.Equal(t, []string{"RunPodSandbox:p1 must 9s", "RunPodSandbox:p1 must 1s"}, f.journal.awaited)

		rejected := <-await()
		require.ErrorAs(t, rejected.err, &u)
		assert.Equal(t, requiredWait, u.Waited)
		ended := await()
		time.Sleep(time.Second)
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		require.ErrorIs(t, (<-ended).err, ErrStopped)
		assert.Equal(t, "Synchronize()", other.received(), "no event of a pod that did not start")
	})
}

// If the plugin does not answer its request, the pod fails at once, whatever the plugin's policy,
// and no later plugin is asked.
func TestL20_NoAnswerIsNoApproval(t *testing.T) {
	for name, tc := range map[string]struct {
		must func(*plugin)
		took time.Duration
		text string
	}{
		"it times out": {
			must: func(p *plugin) { p.hang(RunPodSandbox) },
			took: requestTimeout,
			text: "did not answer: no answer within 2s",
		},
		"it times out and stays": {
			must: func(p *plugin) { p.keepConnected = true; p.hang(RunPodSandbox) },
			took: requestTimeout,
			text: "did not answer: no answer within 2s",
		},
		"its connection is lost": {
			must: func(p *plugin) {
				p.handle = func(context.Context, Event) (any, error) {
					time.Sleep(time.Second)
					p.Close()
					return nil, errors.New("broken pipe")
				}
			},
			took: time.Second,
			text: "did not answer: connection closed", // whichever side notices first
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, requires("must"))
				must, after := newPlugin("20-must"), newPlugin("30-after")
				tc.must(must)
				f.joined(must, after)
				start := time.Now()
				u := f.unmet(t.Context(), "RunPodSandbox:p1", "must")
				assert.Equal(t, tc.took, time.Since(start))
				require.ErrorContains(t, u, "RunPodSandbox of pod p1: required plugin must: "+tc.text)
				assert.Zero(t, u.Disconnected)
				assert.Equal(t, "Synchronize()", after.received())
			})
		})
	}
}

func TestL20_RejectionOfARequiredPluginIsItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		f.joined(newPlugin("10-must").reject(RunPodSandbox))
		err := f.ask(t.Context(), "RunPodSandbox:p1")
		var failed *Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, Rejection, failed.Failure)
		require.NotErrorAs(t, err, new(*Unmet))
	})
}

// Pods that wait for their turn wait for the next connection. Pods that were sent have failed.
func TestL20_PluginIsLostWhilePodsWait(t *testing.T) {
	for _, failRequest := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, requires("must"))
			must := newPlugin("10-must").hang(RunPodSandbox)
			must.failRequest = failRequest
			f.joined(must)
			sent := f.asking("RunPodSandbox:p1")
			synctest.Wait()
			waits, late := f.asking("RunPodSandbox:p2"), f.asking("RunPodSandbox:p3")
			time.Sleep(time.Second)
			must.Close()
			require.ErrorAs(t, <-sent, new(*Unmet))
			time.Sleep(requiredWait / 2)
			next := newPlugin("10-must")
			f.joined(next)
			require.NoError(t, <-waits)
			require.NoError(t, <-late)
			assert.Contains(t, next.received(), "RunPodSandbox:p2")
			assert.Contains(t, next.received(), "RunPodSandbox:p3")
			assert.NotContains(t, next.received(), "RunPodSandbox:p1")
		})
	}
}

// However often the plugin connects and disconnects, the wait is no longer in all.
func TestL20_WaitIsOneForAllAbsences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		start := time.Now()
		ran := f.asking("RunPodSandbox:p1")
		for time.Since(start) < time.Hour {
			time.Sleep(4 * time.Second)
			p := newPlugin("10-must")
			p.synchronize = func(context.Context, Snapshot) error { p.Close(); return ErrClosed }
			require.Error(t, f.join(p))
			if len(ran) > 0 {
				break
			}
		}
		require.Len(t, ran, 1, "the pod still waits")
		var u *Unmet
		require.ErrorAs(t, <-ran, &u)
		assert.Equal(t, requiredWait, u.Waited)
		assert.LessOrEqual(t, time.Since(start), requiredWait+4*time.Second)
	})
}

func TestL20_OverduePluginFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		first, must := newPlugin("10-first"), newPlugin("20-must").hang(StopPodSandbox)
		must.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == StopPodSandbox {
				<-must.closed
			}
			return nil, nil
		}
		must.keepConnected = true
		f.joined(first, must)
		f.did("RunPodSandbox:p0")
		require.NoError(t, f.end("StopPodSandbox:p0"))
		time.Sleep(time.Second)
		start := time.Now()
		u := f.unmet(t.Context(), "RunPodSandbox:p1", "must")
		assert.Zero(t, time.Since(start))
		require.ErrorContains(t, u, "has not answered StopPodSandbox of pod p0 for 3s")
		assert.NotContains(t, first.received(), "p1")

		// A second instance is enough.
		f.joined(newPlugin("20-must"))
		require.NoError(t, f.ask(t.Context(), "RunPodSandbox:p2"))
		must.Close()
	})
}

func TestL20_PodWaitsForAJoiningPlugin(t *testing.T) {
	for _, tc := range []struct {
		takes time.Duration
		fails bool
	}{
		{takes: syncTimeout - time.Second},
		{takes: time.Hour, fails: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, requires("must"))
			other := newPlugin("10-other")
			f.joined(other)
			for range 2 { // also one whose last connection failed to be synchronized
				must := newPlugin("20-must")
				must.synchronize = func(ctx context.Context, _ Snapshot) error { return pause(ctx, tc.takes) }
				go f.join(must)
				synctest.Wait()
				start := time.Now()
				if tc.fails {
					u := f.unmet(t.Context(), "RunPodSandbox:p1", "must")
					assert.Equal(t, requiredWait, time.Since(start))
					assert.Equal(t, f.since, u.Disconnected)
					assert.NotContains(t, other.received(), "p1")
					continue
				}
				f.did("RunPodSandbox:p1")
				assert.Equal(t, tc.takes, time.Since(start))
				assert.Contains(t, must.received(), "RunPodSandbox:p1")
				return
			}
		})
	}
}

// A plugin without subscription to the event has not answered, unless the requirement says that
// it is enough to be connected.
func TestL20_PluginThatDidNotSubscribe(t *testing.T) {
	for _, present := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, func(o *Options) {
				o.Required = func(context.Context, Event) ([]Requirement, error) {
					return []Requirement{{Plugin: "must", Wait: requiredWait, OrPresent: present}}, nil
				}
			})
			must := newPlugin("10-must")
			must.wants = masks["containers"]
			if present {
				waiting := f.asking("RunPodSandbox:p0")
				time.Sleep(time.Second)
				require.Empty(t, waiting, "it is disconnected")
				f.joined(must)
				require.NoError(t, <-waiting)
				f.did("RunPodSandbox:p1")
				must.hang(CreateContainer)
				f.unmet(t.Context(), "CreateContainer:p1/c1", "must")
				return
			}
			f.joined(must)
			u := f.unmet(t.Context(), "RunPodSandbox:p1", "must")
			require.ErrorContains(t, u, "plugin 10-must is connected, but has not subscribed to RunPodSandbox")
			assert.Zero(t, u.Disconnected)
		})
	}
}

// The answer counts. The plugin need not be connected when the pod is Ready.
func TestL20_PluginThatAnsweredMayDisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		must, slow := newPlugin("10-must"), newPlugin("20-slow")
		slow.handle = func(context.Context, Event) (any, error) {
			must.Close()
			slow.stall(time.Second)
			return nil, nil
		}
		f.joined(must, slow)
		f.did("RunPodSandbox:p1")
	})
}

// A pod waits for a plugin, which disconnects between the end of the wait and its request.
func TestL20_SealWaitsForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		must := newPlugin("10-must")
		leave := sync.OnceFunc(func() { must.Close(); synctest.Wait() })
		f := newFixture(t, requires("must"), func(o *Options) { o.Observer = &waitObserver{o.Observer, leave} })
		ran := f.asking("RunPodSandbox:p1")
		time.Sleep(time.Second)
		f.joined(must)
		time.Sleep(time.Second)
		require.Empty(t, ran, "without its approval")
		next := newPlugin("10-must")
		f.joined(next)
		require.NoError(t, <-ran)
		assert.Equal(t, "Synchronize()", must.received())
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", next.received())
	})
}

// A waitObserver does something at the end of a wait for a plugin that is disconnected.
type waitObserver struct {
	Observer
	awaited func()
}

func (o *waitObserver) Awaited(Event, string, time.Duration) { o.awaited() }

func TestL20_PodThatWaitsCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		start := time.Now()
		ran := f.asking("RunPodSandbox:p1")
		time.Sleep(time.Second)
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		require.ErrorIs(t, <-ran, ErrStopped)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestL20_EngineThatClosesApprovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		ran := f.asking("RunPodSandbox:p1")
		time.Sleep(time.Second)
		f.Close()
		require.ErrorAs(t, <-ran, new(*Unmet))
		require.Error(t, f.ask(t.Context(), "RunPodSandbox:p2"))
	})
}

// An end does not wait for a plugin that is disconnected (L8). The engine asks once for each pod
// and container which plugins it requires.
func TestL8_TeardownIsNotGated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[Kind]int{}
		f := newFixture(t, func(o *Options) {
			o.Required = func(_ context.Context, ev Event) ([]Requirement, error) {
				asked[ev.Kind]++
				return []Requirement{{Plugin: "must", Wait: requiredWait}}, nil
			}
		})
		must := newPlugin("10-must")
		f.joined(must)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1", "StartContainer:p1/c1")
		must.Close()
		synctest.Wait()
		start := time.Now()
		require.NoError(t, f.end("StopContainer:p1/c1", "StopPodSandbox:p1"))
		require.NoError(t, f.end("RemoveContainer:p1/c1", "RemovePodSandbox:p1"))
		assert.Zero(t, time.Since(start))
		assert.Equal(t, map[Kind]int{RunPodSandbox: 1, CreateContainer: 1}, asked)
	})
}

// Plugins can make up any number of names, and the engine keeps a bounded number of them.
func TestL20_AbsencesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("p5"))
		for i := range names + 5 {
			p := newPlugin(fmt.Sprintf("10-p%d", i))
			f.joined(p)
			p.Close()
			time.Sleep(time.Second)
		}
		synctest.Wait()
		assert.Len(t, f.absent, names)
		assert.NotContains(t, f.absent, "10-p4", "the one that left first")
		gone := f.absent["10-p5"]
		u := f.unmet(t.Context(), "RunPodSandbox:p1", "p5")
		assert.Equal(t, gone, u.Disconnected)
		f.joined(newPlugin("10-p5"))
		synctest.Wait()
		assert.NotContains(t, f.absent, "10-p5")
	})
}
