// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// Sample is a list of measurements in one unit, in their order.
type Sample []float64

// add adds a duration in seconds.
func (s *Sample) add(d time.Duration) { *s = append(*s, d.Seconds()) }

// stats is the sample for benchstat, which sorts it.
func (s Sample) stats() *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(s), &benchmath.DefaultThresholds)
}

// confidence is the confidence of intervals; benchstat's default.
const confidence = 0.95

func (s Sample) summary() benchmath.Summary {
	return benchmath.AssumeNothing.Summary(s.stats(), confidence)
}

// compare returns the likelihood of two samples like these if nothing differs.
func (s Sample) compare(with Sample) benchmath.Comparison {
	return benchmath.AssumeNothing.Compare(s.stats(), with.stats())
}

// median is NaN without measurements.
func (s Sample) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return s.summary().Center
}

// in is the median in a unit, with the extent of its confidence interval.
func (s Sample) in(unit string) string {
	if len(s) == 0 {
		return "-"
	}
	median := s.summary()
	return number(median.Center, unit) + " ± " + median.PctRangeString()
}

// number has at least three significant digits, and the unit of seconds and bytes. Other units are
// in the row's name.
func number(x float64, unit string) string {
	of, _, _ := strings.Cut(unit, "/")
	symbol := map[string]string{"sec": "s", "B": "B"}[of]
	return benchunit.Scale(x, benchunit.ClassOf(unit)) + symbol
}
