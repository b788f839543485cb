// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"time"

	"github.com/aclements/go-moremath/stats"
)

// Sample is what was measured, in one unit, in the order of measurement.
type Sample []float64

// add takes a duration in milliseconds.
func (s *Sample) add(d time.Duration) { *s = append(*s, float64(d)/float64(time.Millisecond)) }

func (s Sample) quantile(q float64) float64 { return stats.Sample{Xs: s}.Quantile(q) }

// Median is NaN without measurements.
func (s Sample) Median() float64 { return s.quantile(0.5) }

// String is the median, and in parentheses the range of the middle half, or of
// all where they are few.
func (s Sample) String() string {
	switch {
	case len(s) == 0:
		return "-"
	case len(s) == 1:
		return number(s[0])
	}
	low, high := s.quantile(0.25), s.quantile(0.75)
	if len(s) < few {
		low, high = stats.Bounds(s)
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.Median()), number(low), number(high))
}

// few measurements have no quartiles worth the name.
const few = 8

// number has three significant digits or all before the point.
func number(x float64) string {
	switch {
	case x >= 100 || x == 0:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}
