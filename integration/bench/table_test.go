// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Few measurements show their range, many their middle half: one outlier is no spread.
func TestSampleString(t *testing.T) {
	for _, test := range []struct {
		want   string
		sample Sample
	}{
		{"-", nil},
		{"12.3", Sample{12.34}},
		{"2.00 (1.00–250)", Sample{250, 1, 2}},
		{"4.50 (2.42–6.58)", Sample{8, 1, 2, 3, 4, 5, 6, 7}},
		{"10.0 (10.0–10.0)", Sample{10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 5000}},
	} {
		require.Equal(t, test.want, test.sample.String())
	}
	require.True(t, math.IsNaN(Sample{}.Median()))

	var s Sample
	s.add(1500 * time.Microsecond)
	require.Equal(t, Sample{1.5}, s)
}

func TestTable(t *testing.T) {
	var b strings.Builder
	require.NoError(t, Table(&b, []Row{
		{What: "Stop (s)", Stock: Sample{10, 11, 12}, Patched: Sample{2, 2.2, 2.5}, Goals: []Goal{atMost(2.5, 2.2, "%.1f s")}},
		{What: "Rate", Stock: Sample{8}, Patched: Sample{6}, Goals: []Goal{atLeast(0.85, 0.75, "%.2f of stock")}},
		{What: "Engine", Patched: Sample{7}},
	}))
	require.Equal(t, `| Scenario | Stock | Patched | Ratio | Goal | Met |
|---|---|---|---|---|---|
| Stop (s) | 11.0 (10.0–12.0) | 2.20 (2.00–2.50) | 0.20 | at most 2.5 s | yes (2.20) |
| Rate | 8.00 | 6.00 | 0.75 | at least 0.85 of stock | **no** (0.75) |
| Engine | - | 7.00 | - |  |  |
`, b.String())
}

// A goal is met at its limit, and never by what was not measured.
func TestGoal(t *testing.T) {
	require.True(t, atMost(1.03, 1.03, "%.2f").Met)
	require.False(t, atMost(1.03, 1.031, "%.2f").Met)
	require.False(t, atMost(1.03, Sample{}.Median(), "%.2f").Met)
	require.True(t, atLeast(0.85, 0.85, "%.2f").Met)
	require.False(t, atLeast(0.85, 0.849, "%.2f").Met)
	require.False(t, atLeast(0.85, math.NaN(), "%.2f").Met)
}

// The side that begins changes from turn to turn, and what is measured goes to
// the side it was measured on.
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
