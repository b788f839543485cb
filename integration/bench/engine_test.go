// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const engineOutput = `goos: linux
goarch: amd64
BenchmarkAsk/plugins=10-2                   	   61345	      3000 ns/op	     800 B/op	      10 allocs/op
BenchmarkAsk/plugins=10-2                   	   61345	      4000 ns/op	     800 B/op	      10 allocs/op
BenchmarkAsk/plugins=10/unsubscribed-2      	  587650	       481.5 ns/op	       0 B/op	       0 allocs/op
BenchmarkLife/plugins=10-2                  	    1642	    148304 ns/op	      6000 ns/ask	     26000 ns/teardown	   23099 B/op	     252 allocs/op
BenchmarkLedger-2                           	      45	   5036545 ns/op	       223.0 B/pod
PASS
`

// Goals are in the units of the figures.
func TestReadEngine(t *testing.T) {
	rows, err := readEngine(strings.NewReader(engineOutput))
	require.NoError(t, err)
	require.Len(t, rows, len(engineRows))

	require.InDeltaSlice(t, []float64{3e-6, 4e-6}, []float64(rows[0].Patched), 1e-12)
	require.Equal(t, []Goal{{"at most 5.000µs", "3.500µs", true}}, rows[0].Goals)
	require.Equal(t, []Goal{{"at most 5.000µs", "6.000µs", false}}, rows[1].Goals)
	require.Equal(t, []Goal{{"at most 25.00µs", "26.00µs", false}}, rows[2].Goals)
	require.Equal(t, []Goal{{"at most 0.000", "0.000", true}}, rows[3].Goals)
	require.Equal(t, []Goal{{"at most 512.0B", "223.0B", true}}, rows[4].Goals)
}

// A benchmark that was renamed is missed, not skipped.
func TestReadEngineMissing(t *testing.T) {
	_, err := readEngine(strings.NewReader(strings.ReplaceAll(engineOutput, "Ledger", "Book")))
	require.EqualError(t, err, "go test -bench: no B/pod of BenchmarkLedger")
}

func TestCheckOptions(t *testing.T) {
	_, err := Run(t.Context(), Options{Only: []string{"fast"}, Counts: DefaultCounts})
	require.EqualError(t, err, `no scenario "fast": life, where, shim, memory, resources, rate, sandboxes, neighbour, hung, register, flap, missed, stores, engine`)
	_, err = Run(t.Context(), Options{})
	require.EqualError(t, err, "counts of a benchmark must be positive")
}
