// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// engineRows are figures of the engine with their goals, by benchmark and unit as in benchfmt.
var engineRows = []struct {
	what, benchmark, unit string
	limit                 float64
}{
	{"Engine, one event for ten plugins", "Ask/plugins=10", "sec/op", 5e-6},
	{"Engine, an event that plugins may reject, over a pod's life, ten plugins", "Life/plugins=10", "sec/ask", 5e-6},
	{"Engine, an end, delivered to ten plugins at once", "Life/plugins=10", "sec/teardown", 25e-6},
	{"Engine, one event, ten plugins not subscribed (allocations)", "Ask/plugins=10/unsubscribed", "allocs/op", 0},
	{"Ledger, a pod with two containers, one plugin", "Ledger", "B/pod", 512},
}

// engine measures the engine alone: no RPC and no pods. Stock has no engine.
func (b *bench) engine(ctx context.Context) ([]Row, error) {
	if b.Engine == nil {
		return nil, errors.New("the option Engine is not set")
	}
	end := b.step("go test -bench")
	output, err := b.Engine(ctx)
	end()
	if err != nil {
		return nil, err
	}
	return readEngine(bytes.NewReader(output))
}

// readEngine finds the engine's rows in the output of go test -bench.
func readEngine(output io.Reader) ([]Row, error) {
	measured := map[[2]string]Sample{}
	results := benchfmt.NewReader(output, "go test -bench")
	for results.Scan() {
		result, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		for _, v := range result.Values {
			at := [2]string{withoutProcs(result.Name), v.Unit}
			measured[at] = append(measured[at], v.Value)
		}
	}
	if err := results.Err(); err != nil {
		return nil, err
	}
	var rows []Row
	for _, e := range engineRows {
		row := Row{What: e.what, Name: e.benchmark, Unit: e.unit, Patched: measured[[2]string{e.benchmark, e.unit}]}
		if len(row.Patched) == 0 {
			return nil, fmt.Errorf("go test -bench: no %s of Benchmark%s", e.unit, e.benchmark)
		}
		row.Goals = []Goal{row.atMost(e.limit, "")}
		rows = append(rows, row)
	}
	return rows, nil
}

// withoutProcs returns a benchmark's name without the number of processors at its end.
func withoutProcs(name benchfmt.Name) string {
	base, parts := name.Parts()
	var b strings.Builder
	b.Write(base)
	for _, p := range parts {
		if p[0] != '-' {
			b.Write(p)
		}
	}
	return b.String()
}
