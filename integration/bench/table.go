// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"strings"
)

// Row is one figure of both runtimes.
type Row struct {
	What           string // with its unit
	Stock, Patched Sample
	Goals          []Goal // of the patched one
}

// of is where the measurements of a side go.
func (r *Row) of(s *side) *Sample {
	if s.name == stock {
		return &r.Stock
	}
	return &r.Patched
}

// Goal is what a figure should be.
type Goal struct {
	Text   string  // "at most 1.25 request timeouts"
	Figure float64 // in the terms of the text
	Met    bool
}

func atMost(limit, figure float64, format string) Goal {
	return Goal{"at most " + fmt.Sprintf(format, limit), figure, figure <= limit}
}

func atLeast(limit, figure float64, format string) Goal {
	return Goal{"at least " + fmt.Sprintf(format, limit), figure, figure >= limit}
}

// ratio is what the patched one has for each of stock.
func (r Row) ratio() string {
	if len(r.Stock) == 0 || len(r.Patched) == 0 || r.Stock.Median() == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", r.Patched.Median()/r.Stock.Median())
}

// Table writes rows as markdown.
func Table(w io.Writer, rows []Row) error {
	var b strings.Builder
	b.WriteString("| Scenario | Stock | Patched | Ratio | Goal | Met |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		var goals, met []string
		for _, g := range r.Goals {
			goals = append(goals, g.Text)
			answer := "yes"
			if !g.Met {
				answer = "**no**"
			}
			met = append(met, fmt.Sprintf("%s (%s)", answer, number(g.Figure)))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n",
			r.What, r.Stock, r.Patched, r.ratio(), strings.Join(goals, "; "), strings.Join(met, "; "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
