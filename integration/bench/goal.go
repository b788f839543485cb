// SPDX-License-Identifier: Apache-2.0

package bench

import "fmt"

// Goal is a goal for a figure of the patched runtime.
type Goal struct {
	Text   string // "at most 1.03 of stock"
	Figure string // the measured value, in the unit of the text
	Met    bool
}

// atMost is a goal for the median of the patched runtime. The text, if any, explains the limit.
func (r Row) atMost(limit float64, text string) Goal {
	median := r.Patched.median()
	return Goal{"at most " + number(limit, r.Unit) + text, number(median, r.Unit), median <= limit}
}

// ratioAtMost and ratioAtLeast are goals for the ratio of two samples.
func ratioAtMost(limit float64, s, of Sample, text string) Goal {
	return Goal{fmt.Sprintf("at most %.2f of %s", limit, text), compared(s, of), ratio(s, of) <= limit}
}

func ratioAtLeast(limit float64, s, of Sample, text string) Goal {
	return Goal{fmt.Sprintf("at least %.2f of %s", limit, text), compared(s, of), ratio(s, of) >= limit}
}

// enough is the number of measurements that the U test needs to find any difference.
const enough = 4

// noMore is a goal for two samples that should not differ. A ratio above one counts only if the
// U test found a difference. With too few measurements for the test, it always counts.
func noMore(s, of Sample, text string) Goal {
	goal := ratioAtMost(1, s, of, text)
	goal.Text += ", or no difference found"
	if min(len(s), len(of)) >= enough {
		test := s.compare(of)
		goal.Met = goal.Met || test.P > test.Alpha
	}
	return goal
}

// ratio is NaN if one of the two was not measured.
func ratio(s, of Sample) float64 { return s.median() / of.median() }

func compared(s, of Sample) string {
	if len(s) == 0 || len(of) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f, %s", ratio(s, of), s.compare(of))
}
