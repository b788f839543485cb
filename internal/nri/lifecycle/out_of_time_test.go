// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// takes is a plugin that may take a minute for each event, and takes a time for it.
func takes(name string, work time.Duration) *plugin {
	p := newPlugin(name)
	p.timeouts = Timeouts{Request: 60e9}
	p.handle = func(context.Context, Event) (any, error) { p.stall(work); return nil, nil }
	return p
}

// failsWithin sends an event that must fail, of a caller that has some time.
func (f *fixture) failsWithin(has time.Duration, ev string) error {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), has)
	defer cancel()
	err := f.ask(ctx, ev)
	require.Error(f.t, err)
	return err
}

// The plugin that was asked last is not the one to blame.
func TestL28_ErrorNamesThePluginsThatTookTheTime(t *testing.T) {
	for ev, all := range map[string]time.Duration{
		"RunPodSandbox:p1":        16 * time.Second, // two TeardownWaits are for the roll-back
		"CreateContainer:p0/c1":   16 * time.Second,
		"UpdatePodSandbox:p0":     20 * time.Second,
		"PostUpdatePodSandbox:p0": 20 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.listed.Pods = pods("p0")
			f.joined(takes("10-slow", 12*time.Second), takes("20-last", time.Minute))
			start := time.Now()
			err := f.failsWithin(20*time.Second, ev)
			assert.Equal(t, all, time.Since(start))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.EqualError(t, err, fmt.Sprintf("of %s for plugins, 10-slow took 12s, 20-last took %s: %s: asking plugin 20-last: context deadline exceeded",
				all, all-12*time.Second, event(ev)))
		})
	}
}

// Validators are asked side by side.
func TestL28_ErrorNamesTheValidatorsThatTookTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.listed.Pods, f.listed.Containers = pods("p0"), []Object{{Pod: "p0", Container: "c1"}}
		f.joined(takes("10-slow", 12*time.Second), takes("20-slower", time.Minute))
		err := f.failsWithin(20*time.Second, "ValidateContainerAdjustment:p0/c1")
		require.ErrorContains(t, err, "of 20s for plugins, 20-slower took 20s, 10-slow took 12s: ")
	})
}

// Many plugins that each take a little are named by their number.
func TestL28_ErrorCountsPluginsThatTookLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for i := range 45 {
			f.joined(takes(fmt.Sprintf("%d-quick", 10+i), 45*time.Millisecond))
		}
		err := f.failsWithin(2*time.Second, "RunPodSandbox:p1")
		require.ErrorContains(t, err, "of 1.5s for plugins, 10-quick took 50ms, 11-quick took 50ms, 12-quick took 50ms, 13-quick took 50ms, 14-quick took 50ms, 29 others took 1.3s: ")
	})
}

// A plugin has too little time for its work because others took it, and rejects.
func TestL28_RejectionOfAStarvedPluginNamesTheOthers(t *testing.T) {
	for _, tc := range []struct {
		has   time.Duration // with the time for the roll-back
		first time.Duration // that the first plugin takes
		text  string
	}{
		{20 * time.Second, 12 * time.Second, "of 16s for plugins, 10-first took 12s: RunPodSandbox of pod p1: plugin 20-last rejected: "},
		{20 * time.Second, 7 * time.Second, ""},   // more is left for the last one than the first one took
		{80 * time.Second, 12 * time.Second, ""},  // the last one has its timeout
		{130 * time.Second, 59 * time.Second, ""}, // it has its timeout, though the other took nearly as much
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			last := takes("20-last", 0)
			last.handle = func(context.Context, Event) (any, error) { return nil, errRejected }
			f.joined(takes("10-first", tc.first), last)
			err := f.failsWithin(tc.has, "RunPodSandbox:p1")
			require.ErrorIs(t, err, errRejected)
			if tc.text == "" {
				assert.NotErrorAs(t, err, new(*OutOfTime))
				return
			}
			require.ErrorContains(t, err, tc.text)
		})
	}
}

// What fails a plugin in itself names no other, though one behind a slow plugin was starved.
func TestL28_OtherFailuresNameNoOtherPlugin(t *testing.T) {
	for name, fails := range map[string]struct {
		timeout time.Duration
		how     func(*plugin) error
	}{
		"timeout":   {requestTimeout, func(p *plugin) error { p.stall(requestTimeout + time.Second); return nil }},
		"loss":      {time.Minute, func(p *plugin) error { p.Close(); return ErrClosed }},
		"rejection": {requestTimeout, func(*plugin) error { return errRejected }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				last := newPlugin("30-last")
				last.timeouts, last.failRequest = Timeouts{Request: fails.timeout}, true
				last.handle = func(context.Context, Event) (any, error) { return nil, fails.how(last) }
				f.joined(takes("10-slow", 12*time.Second), takes("20-starved", 0), last)
				err := f.failsWithin(20*time.Second, "RunPodSandbox:p1")
				assert.NotErrorAs(t, err, new(*OutOfTime))
				require.ErrorContains(t, err, "30-last")
			})
		})
	}
}

// Only its own earlier request took the time of a plugin that rejects.
func TestL28_PluginThatStarvesItselfNamesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.listed.Pods = pods("p0")
		busy := takes("10-busy", 0)
		busy.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == RunPodSandbox {
				return nil, errRejected
			}
			busy.stall(12 * time.Second)
			return nil, nil
		}
		f.joined(busy)
		go func() { _ = f.ask(t.Context(), "UpdatePodSandbox:p0") }()
		time.Sleep(time.Millisecond)
		assert.NotErrorAs(t, f.failsWithin(20*time.Second, "RunPodSandbox:p1"), new(*OutOfTime))
	})
}

// A plugin in the process ends with its deadline, which may pass just before the caller's context ends.
func TestL28_PluginThatEndsWithTheDeadlineIsOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.listed.Pods = pods("p0")
		own := takes("10-own", 0)
		own.handle = func(context.Context, Event) (any, error) { own.stall(12 * time.Second); return nil, errRejected }
		f.joined(own)
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(12*time.Second))
		defer cancel()
		err := f.ask(endsLate{ctx}, "UpdatePodSandbox:p0")
		require.ErrorContains(t, err, "of 12s for plugins, 10-own took 12s: ")
		require.ErrorIs(t, err, errRejected)
	})
}

// endsLate is a context whose deadline passes before it ends.
type endsLate struct{ context.Context }

func (endsLate) Done() <-chan struct{} { return nil }
func (endsLate) Err() error            { return nil }

// The time in which an event waits in a plugin's lane is this plugin's.
func TestL28_WaitForEarlierRequestsCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.listed.Pods = pods("p0")
		f.joined(takes("10-busy", 4*time.Second), takes("20-last", time.Minute))
		go func() { _ = f.ask(t.Context(), "UpdatePodSandbox:p0") }()
		time.Sleep(time.Second)
		err := f.failsWithin(12*time.Second, "RunPodSandbox:p2")
		require.ErrorContains(t, err, "of 9s for plugins, 10-busy took 7s, 20-last took 2s: ")
	})
}

// So is the wait for a required plugin, before the pod is made or after that. Two plugins are awaited
// side by side.
func TestL28_WaitForARequiredPluginCounts(t *testing.T) {
	for _, early := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, requires("10-first", "90-must"))
			time.AfterFunc(2*time.Second, func() { _ = f.join(newPlugin("10-first")) })
			time.AfterFunc(3*time.Second, func() { _ = f.join(takes("90-must", time.Minute)) })
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if early {
				var err error
				ctx, err = f.Await(ctx, event("RunPodSandbox:p1"))
				require.NoError(t, err)
			}
			err := f.ask(ctx, "RunPodSandbox:p1")
			require.ErrorContains(t, err, "of 16s for plugins, 90-must took 13s, the wait for 90-must took 3s: ")
		})
	}
}

// A required plugin is lost while an event waits in its lane, and the event waits for its return.
func TestL28_NoTimeCountsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		f.listed.Pods = pods("p0")
		must := takes("90-must", 4*time.Second)
		f.joined(must)
		go func() { _ = f.ask(t.Context(), "UpdatePodSandbox:p0") }()
		time.Sleep(time.Second)
		time.AfterFunc(2*time.Second, must.Close)
		time.AfterFunc(5*time.Second, func() { _ = f.join(takes("90-must", time.Minute)) })
		err := f.failsWithin(16*time.Second, "RunPodSandbox:p1")
		require.ErrorContains(t, err, "of 12s for plugins, 90-must took 9s, the wait for must took 3s: ")
	})
}

// What the runtime does with a reply is not the plugin's.
func TestL28_WorkOfTheRuntimeDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.listed.Pods = pods("p0")
		f.joined(newPlugin("10-quick"), takes("20-last", time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		err := f.Ask(ctx, event("UpdatePodSandbox:p0"), func(Connection, any) error { time.Sleep(5 * time.Second); return nil })
		require.ErrorContains(t, err, "of 12s for plugins, 20-last took 7s: ")
	})
}

// A caller that leaves early reads what took the time until then.
func TestL28_CallerThatCancelsReadsIt(t *testing.T) {
	for _, limited := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.joined(takes("10-slow", 12*time.Second), takes("20-last", time.Minute))
			ctx, cancel := context.WithCancel(t.Context())
			if limited {
				ctx, cancel = context.WithTimeout(t.Context(), time.Hour)
			}
			time.AfterFunc(20*time.Second, cancel)
			err := f.ask(ctx, "RunPodSandbox:p1")
			require.ErrorIs(t, err, context.Canceled)
			require.EqualError(t, err, "10-slow took 12s, 20-last took 8s: RunPodSandbox of pod p1: asking plugin 20-last: context canceled")
		})
	}
}

// Nothing is added if no plugin took any time.
func TestL28_CallerThatCancelsAtOnceReadsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.joined(newPlugin("10-a"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.EqualError(t, f.ask(ctx, "RunPodSandbox:p1"), "RunPodSandbox of pod p1: waiting for plugin 10-a: context canceled")
	})
}

// The caller's time may be over before the first plugin is asked.
func TestL28_ErrorSaysThatPluginsHadNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.joined(newPlugin("10-a"))
		err := f.failsWithin(0, "UpdatePodSandbox:p0")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "no time was left for plugins: UpdatePodSandbox of pod p0: waiting for plugin 10-a: context deadline exceeded")
	})
}

// The text is short, whatever the plugins' names, and however many a node has.
func TestL28_ErrorIsShort(t *testing.T) {
	o := &OutOfTime{Err: errRejected, Had: time.Minute}
	for i := range 1000 {
		o.Uses = append(o.Uses, Use{Plugin: fmt.Sprint(i, "-", strings.Repeat("x", 255)), Took: time.Second, Waited: true})
	}
	assert.Contains(t, o.Usage(), "995 others took 16m35s")
	assert.Contains(t, o.Usage(), "xxx… took 1s")
	assert.Less(t, len(o.Usage()), 600)
	o = &OutOfTime{Err: errRejected, Had: -1, Uses: []Use{{Plugin: "10-a", Took: 4 * time.Millisecond}, {Plugin: "20-b", Took: 2 * time.Millisecond}}}
	assert.Empty(t, o.Usage(), "they took too little to be named")
}
