// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/bench/programs"
)

const ms = time.Millisecond

// exited is a program of a node with its start and end.
func exited(path string, start, end time.Duration) *programs.Program {
	return &programs.Program{Path: "/node/" + path, Start: start, End: end, Exited: true}
}

// Programs that started in a call on its node belong to the call. It does not wait for programs
// that started before it or end after it.
func TestBreakDown(t *testing.T) {
	shim := exited("bin/shim", 104*ms, 900*ms)
	trace := &programs.Trace{
		Programs: []*programs.Program{
			exited("bin/early", 50*ms, 150*ms),
			exited("bin/ptp", 101*ms, 103*ms),
			exited("bin/host-local", 102*ms, 103*ms),
			shim,
			{Path: "/other/bin/ptp", Start: 105 * ms, End: 109 * ms, Exited: true},
			exited("bin/ptp", 106*ms, 108*ms),
			exited("bin/late", 111*ms, 112*ms),
		},
		Samples: []programs.Sample{
			{Process: 7, At: 99 * ms, Took: ms},
			{Process: 7, At: 101 * ms, Took: ms},
			{Process: 8, At: 102 * ms, Took: ms},
			{Process: 9, Program: shim, At: 105 * ms, Took: ms},
			{Process: 9, Program: shim, At: 205 * ms, Took: ms},
		},
		Waits: []programs.Wait{
			{Process: 7, At: 100 * ms, Took: 2 * ms}, {Process: 8, At: 101 * ms, Took: ms}, {Process: 7, At: 110 * ms, Took: ms},
		},
	}
	batches := []*batch{
		{runtime: patched, folder: "/node", containerd: 7, call: "Run", calls: []call{{start: 100 * ms, end: 110 * ms}}},
		{runtime: patched, folder: "/node", containerd: 7, call: "Run", calls: []call{{start: 200 * ms, end: 206 * ms}}},
	}
	all := breakDown(batches, trace)
	require.Len(t, all, 1)
	of := all[0]
	require.Equal(t, Sample{0.010, 0.006}, of.Calls)
	require.Equal(t, Sample{0.006, 0.006}, of.None)
	require.Equal(t, []Share{
		{Name: "containerd", CPU: ms},
		{Name: "host-local", Started: 1, Took: Sample{0.001}, since: 2 * ms},
		{Name: "ptp", Started: 2, Took: Sample{0.002, 0.002}, since: 7 * ms},
		{Name: "shim", Started: 1, CPU: 2 * ms, since: 4 * ms},
	}, of.Programs)
	require.Equal(t, Share{Started: 1, Took: Sample{0.002}}, of.Waits)
}

// Of several concurrent calls, each has the time without its own programs. These have no ids.
func TestBreakDownAtOnce(t *testing.T) {
	trace := &programs.Trace{Programs: []*programs.Program{exited("bin/ptp", 1*ms, 3*ms)}}
	calls := []call{{start: 0, end: 4 * ms, ids: []string{"a"}}, {start: ms, end: 6 * ms, ids: []string{"b"}}}
	all := breakDown([]*batch{{runtime: stock, folder: "/node", call: "Run", calls: calls}}, trace)
	require.Len(t, all, 1)
	require.Equal(t, 2, all[0].AtOnce)
	require.Equal(t, Sample{0.004, 0.005}, all[0].None)
	require.Equal(t, 1, all[0].started())
}

// Each call has a table, stock before patched and one at a time before many.
func TestWhereTable(t *testing.T) {
	one := func(runtime string, atOnce int, programs ...Share) Breakdown {
		return Breakdown{
			Call: "Run", Runtime: runtime, AtOnce: atOnce, Calls: Sample{.1, .1}, None: Sample{.04, .04}, Programs: programs,
			Waits: Share{Started: 7, Took: Sample{.0005}},
		}
	}
	var b strings.Builder
	require.NoError(t, WhereTable(&b, []Breakdown{
		one(patched, 8),
		one(stock, 8),
		one(patched, 1, Share{Name: "ptp", Started: 2, Took: Sample{.02, .02}, CPU: 8 * ms}),
		one(stock, 1, Share{Name: "containerd", CPU: 20 * ms}, Share{Name: "shim", Started: 2}),
		{Call: "Stop", Runtime: stock, AtOnce: 1, Calls: Sample{.2}, None: Sample{.2}},
	}))
	require.Equal(t, `| Run | stock, 1 at a time (2) | patched, 1 at a time (2) | stock, 8 at a time (2) | patched, 8 at a time (2) |
| --- | --- | --- | --- | --- |
| the call | 100.0ms | 100.0ms | 100.0ms | 100.0ms |
| containerd | CPU 10.00ms | - | - | - |
| shim | 1 | - | - | - |
| ptp | - | 1 × 20.00ms, CPU 4.000ms | - | - |
| none of these, but for what goes on | 40.00ms | 40.00ms | 40.00ms | 40.00ms |
| programs started | 1 | 1 | 0 | 0 |
| waits for the disk (fsync, fdatasync) | 3.5 × 500.0µs | 3.5 × 500.0µs | 3.5 × 500.0µs | 3.5 × 500.0µs |
| CPU of all | 10.00ms | 4.000ms | 0.000s | 0.000s |

| Stop | stock, 1 at a time (1) |
| --- | --- |
| the call | 200.0ms |
| none of these, but for what goes on | 200.0ms |
| programs started | 0 |
| waits for the disk (fsync, fdatasync) | - |
| CPU of all | 0.000s |

`, b.String())
}
