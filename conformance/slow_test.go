// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/cases"
	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/liar"
	"github.com/hookline-nri/hookline/conformance/report"
)

// A case that depends on time fails if it fails twice: a machine stalls once, and a slow runtime
// is slow each time.
func TestSlowCallFailsTheCaseIfItIsSlowAgain(t *testing.T) {
	setMoments(t, 4*time.Second)
	held := stalls() + 200*time.Millisecond
	timed := fixture.Within(time.Second)
	for _, test := range []struct {
		name    string
		needs   fixture.Needs
		slow    int32 // how many stops of the case are slow
		fails   bool  // also without a slow call
		verdict report.Verdict
		ran     int
	}{
		{name: "stalls once", needs: timed, slow: 1, verdict: report.Passed, ran: 2},
		{name: "slow each time", needs: timed, slow: 2, verdict: report.Failed, ran: 2},
		{name: "quick and wrong", needs: timed, fails: true, verdict: report.Failed, ran: 1},
		{name: "does not depend on time", slow: 1, verdict: report.Failed, ran: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, clock := attachLiar(t)
			var stops atomic.Int32
			clock.stop = func(pod string) time.Duration {
				if pod == "bounded" && stops.Add(1) <= test.slow {
					return held
				}
				return 0
			}
			ran := 0
			one := report.Case{Run: 1, Started: time.Now()}
			require.NoError(t, a.runUntilSignificant(t.Context(), &cases.Case{Name: "L9_Bounded", Needs: test.needs, Run: func(c fixture.T) {
				ran++
				n := c.Runtime()
				id, err := n.CRI().RunPod(c.Context(), n.CRI().Pod("bounded"))
				require.NoError(c, err)
				began := a.calls.now()
				require.NoError(c, n.CRI().StopPod(c.Context(), id))
				took := a.calls.now().Sub(began)
				c.Promise("L9", "the stop does not wait", fixture.KeptOnStock, func(c require.TestingT) {
					assert.Less(c, took, stalls(), "with details")
					assert.False(c, test.fails)
				})
			}}, &one))
			require.Equal(t, test.verdict, one.Verdict, "%s %q", one.Reason, one.Broken())
			require.Equal(t, test.ran, ran)
			require.Len(t, one.Again, test.ran-1)
			if len(one.Again) > 0 {
				require.Regexp(t, `^the machine may have stalled: StopPodSandbox took [23](\.[0-9]+)?s, and the case failed: L9 the stop does not wait: `, one.Again[0])
				require.NotContains(t, one.Again[0], "with details")
				out := new(strings.Builder)
				all := report.Report{Profiles: []report.Profile{{}}, Cases: []report.Case{one}}
				require.NoError(t, all.Markdown(out))
				require.Contains(t, out.String(), "run again: the machine may have stalled", "the report says so")
			}
		})
	}
}

// If the runtime is as slow without plugins, the case has no verdict about plugins.
func TestSlowPodWithoutPluginsIsAnError(t *testing.T) {
	setMoments(t, 4*time.Second)
	a, clock := attachLiar(t)
	clock.stop = func(string) time.Duration { return slow() + 100*time.Millisecond }
	one := report.Case{Run: 1, Started: time.Now()}
	require.NoError(t, a.runUntilSignificant(t.Context(), &cases.Case{Name: "L9_Bounded", Needs: fixture.Within(time.Second), Run: func(c fixture.T) {
		c.Errorf("it took too long")
	}}, &one))
	require.Equal(t, report.Error, one.Verdict)
	require.Contains(t, one.Reason, "the machine was too slow for a verdict")
	require.Len(t, one.Again, tries-1)
}

func setMoments(t *testing.T, to time.Duration) {
	t.Helper()
	before := fixture.Moments
	t.Cleanup(func() { fixture.Moments = before })
	fixture.Moments = to
}

// clock moves only for the stops of pods, so that a busy machine does not matter.
type clock struct {
	mu   sync.Mutex // guards now
	now  time.Time
	stop func(pod string) time.Duration
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// passes adds the time of a pod's stop, without a real wait.
func (c *clock) passes(pod string) time.Duration {
	took := c.stop(pod)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(took)
	return 0
}

// attachLiar attaches to an honest liar.Runtime, with a clock of its own.
func attachLiar(t *testing.T) (*attached, *clock) {
	t.Helper()
	folder, err := os.MkdirTemp("", "liar") // short enough for sockets
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	r, err := liar.Start(folder, liar.Honest)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	a, err := attach(Options{CRI: r.CRI(), NRI: r.NRI(), Timeout: time.Minute}, "none")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.cri.Close()) })
	c := &clock{now: time.Now()}
	r.SetSlowness(c.passes)
	a.calls.now = c.read
	return a, c
}

// The findings of a first try take one line in the report.
func TestFirstTryIsReportedInBrief(t *testing.T) {
	require.Equal(t, "L9 no", brief("L9 no\nand so on"))
	require.Equal(t, "L9 no: Received unexpected error: ttrpc: closed", brief("L9 no: Received unexpected error:\nttrpc: closed\nand so on"))
	require.Equal(t, "L9 no:", brief("L9 no:"))
	require.Equal(t, strings.Repeat("\u00e9", 120)+" ...", brief(strings.Repeat("\u00e9", 121)))
}

// A runtime that crashes once is not excused as a stall of the machine.
func TestCrashOfTheRuntimeIsNoStall(t *testing.T) {
	setMoments(t, 0)
	for _, test := range []struct {
		name  string
		err   error
		end   bool // by the case
		stall bool
	}{
		{name: "it disconnects", err: status.Error(codes.Unavailable, "EOF")},
		{name: "the case ends it", err: status.Error(codes.Unavailable, "EOF"), end: true, stall: true},
		{name: "it says no", err: status.Error(codes.Unknown, "no"), stall: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &attached{calls: &calls{now: time.Now}}
			a.calls.begin()
			err := a.calls.intercept(t.Context(), "/runtime.v1.RuntimeService/RunPodSandbox", &runtime.RunPodSandboxRequest{}, nil, nil,
				func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return test.err })
			require.Equal(t, test.err, err)
			if test.end {
				a.calls.did("kill", time.Now(), nil)
			}
			one := report.Case{}
			one.Calls, a.slowest, a.lost = a.calls.take()
			require.Equal(t, test.stall, a.stall(&one) != "")
		})
	}
}
