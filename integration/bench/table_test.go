// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

// A figure is a median with its confidence interval, which needs six measurements.
func TestSampleIn(t *testing.T) {
	for _, test := range []struct {
		want, unit string
		sample     Sample
	}{
		{"-", "sec/op", nil},
		{"12.34ms ± ∞", "sec/op", Sample{0.01234}},
		{"2.000 ± ∞", "pods/sec", Sample{250, 1, 2}},
		{"3.500s ± 71%", "sec/op", Sample{6, 1, 2, 3, 4, 5}},
		{"10.00KiB ± 0%", "B/pod", Sample{10240, 10240, 10240, 10240, 10240, 10240, 10240, 10240, 10240, 10240, 10240, 5000}},
	} {
		require.Equal(t, test.want, test.sample.in(test.unit))
	}
	require.True(t, math.IsNaN(Sample{}.median()))

	var s Sample
	s.add(1500 * time.Microsecond)
	require.Equal(t, Sample{0.0015}, s)
}

// benchstat sorts; the measurements keep their order.
func TestSampleKeepsItsOrder(t *testing.T) {
	s := Sample{3, 1, 2}
	require.Equal(t, 2.0, s.median())
	s.compare(Sample{2, 1})
	require.Equal(t, Sample{3, 1, 2}, s)
}

// A ratio has its certainty: "~" if the two may be equal. Below the table are warnings about too
// few measurements.
func TestTable(t *testing.T) {
	stop := Row{What: "Stop", Unit: "sec/op", Stock: Sample{10, 11, 12, 10, 11, 12}, Patched: Sample{2, 2.2, 2.5, 2, 2.2, 2.5}}
	stop.Goals = []Goal{stop.atMost(2.5, "")}
	run := Row{What: "Run", Unit: "sec/op", Stock: Sample{.08, .081, .079, .08, .082, .078}, Patched: Sample{.08, .083, .079, .08, .082, .077}}
	run.Goals = []Goal{ratioAtMost(1.03, run.Patched, run.Stock, "stock")}
	rate := Row{What: "Rate", Unit: "pods/sec", Stock: Sample{8}, Patched: Sample{6}}
	rate.Goals = []Goal{ratioAtLeast(0.85, rate.Patched, rate.Stock, "stock")}
	var b strings.Builder
	require.NoError(t, Table(&b, []Row{stop, run, rate, {What: "Engine", Unit: "sec/op", Patched: Sample{7, 7, 7, 7, 7, 7}}}))
	require.Equal(t, `| Scenario | Stock | Patched | Ratio | Confidence | Goal | Met |
|---|---|---|---|---|---|---|
| Stop | 11.00s ± 9% | 2.200s ± 14% | 0.20 | p=0.002 n=6 | at most 2.500s | yes (2.200s) |
| Run | 80.00ms ± 3% | 80.00ms ± 4% | 1.00 | ~ p=0.903 n=6 | at most 1.03 of stock | yes (1.00, p=0.903 n=6) |
| Rate | 8.000 ± ∞ | 6.000 ± ∞ | 0.75 | ~ p=1.000 n=1 | at least 0.85 of stock | **no** (0.75, p=1.000 n=1) |
| Engine | - | 7.000s ± 0% | - | - |  |  |

- need >= 6 samples for confidence interval at level 0.95
- need >= 4 samples to detect a difference at alpha level 0.05
`, b.String())
}

// Written measurements can be read again, also by benchstat.
func TestWrite(t *testing.T) {
	var b strings.Builder
	require.NoError(t, Write(&b, []Row{
		{Name: "RunPodSandbox", Unit: "sec/op", Stock: Sample{0.08, 0.0795}, Patched: Sample{0.081}},
		{Name: "Ledger", Unit: "B/pod", Patched: Sample{223}},
	}))
	require.Equal(t, `BenchmarkRunPodSandbox/runtime=stock 1 0.08 sec/op
BenchmarkRunPodSandbox/runtime=stock 1 0.0795 sec/op
BenchmarkRunPodSandbox/runtime=patched 1 0.081 sec/op
BenchmarkLedger/runtime=patched 1 223 B/pod
`, b.String())
	results := benchfmt.NewReader(strings.NewReader(b.String()), "what was written")
	read := 0
	for results.Scan() {
		require.IsType(t, &benchfmt.Result{}, results.Result())
		read++
	}
	require.NoError(t, results.Err())
	require.Equal(t, 4, read)
}

// A goal is met at its limit, and never without measurements.
func TestGoal(t *testing.T) {
	row := func(x ...float64) Row { return Row{Unit: "sec/op", Patched: x} }
	require.True(t, row(1.03).atMost(1.03, "").Met)
	require.False(t, row(1.031).atMost(1.03, "").Met)
	require.False(t, row().atMost(1.03, "").Met)
	require.True(t, ratioAtMost(1.5, Sample{3}, Sample{2}, "stock").Met)
	require.False(t, ratioAtMost(1.5, Sample{3.01}, Sample{2}, "stock").Met)
	require.False(t, ratioAtMost(1.5, Sample{}, Sample{2}, "stock").Met)
	require.True(t, ratioAtLeast(1.5, Sample{3}, Sample{2}, "stock").Met)
	require.False(t, ratioAtLeast(1.5, Sample{2.99}, Sample{2}, "stock").Met)
	require.False(t, ratioAtLeast(1.5, Sample{3}, Sample{}, "stock").Met)
}

// A ratio above one misses the goal only if the test finds a difference, or has too few
// measurements.
func TestNoMore(t *testing.T) {
	stock := Sample{10, 11, 12, 10, 11, 12}
	for _, test := range []struct {
		patched Sample
		met     bool
	}{
		{Sample{10, 10, 10, 10, 10, 10}, true},
		{Sample{10, 12, 13, 10, 11.1, 12}, true},
		{Sample{13, 14, 15, 13, 14, 15}, false},
		{Sample{11.1}, false},
		{Sample{11}, true},
		{nil, false},
	} {
		require.Equal(t, test.met, noMore(test.patched, stock, "stock").Met, test.patched)
	}
	require.Equal(t, "at most 1.00 of stock, or no difference found", noMore(stock, stock, "stock").Text)
}

// The first side changes from turn to turn, and each measurement goes to its own side.
func TestTurn(t *testing.T) {
	p := &pair{stock: &side{name: stock}, patched: &side{name: patched}}
	var order []string
	var row Row
	for turn := range 3 {
		require.NoError(t, p.turn(turn, func(s *side) error {
			order = append(order, s.name)
			*row.of(s) = append(*row.of(s), float64(turn))
			return nil
		}))
	}
	require.Equal(t, []string{stock, patched, patched, stock, stock, patched}, order)
	require.Equal(t, Sample{0, 1, 2}, row.Stock)
	require.Equal(t, Sample{0, 1, 2}, row.Patched)

	err := p.turn(1, func(s *side) error { return errors.New("no") })
	require.EqualError(t, err, "patched: no")
}
