// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Row is a figure of both runtimes.
type Row struct {
	What           string // for readers, with a unit that is neither seconds nor bytes
	Name, Unit     string // in the format of go test -bench: "RunPodSandbox", "sec/op"
	Stock, Patched Sample
	Peer           Sample // of CRI-O, where it takes part; only goals and results have it
	Goals          []Goal // of the patched one
}

// of is the sample of a side.
func (r *Row) of(s *side) *Sample { return r.sample(s.name) }

func (r *Row) sample(runtime string) *Sample {
	if runtime == stock {
		return &r.Stock
	}
	return &r.Patched
}

// sideSample is the sample of a side.
type sideSample struct {
	name   string
	sample Sample
}

func (r Row) sides() []sideSample {
	return []sideSample{{stock, r.Stock}, {patched, r.Patched}, {"cri-o", r.Peer}}
}

// Table writes rows in Markdown, and below them the warnings about the figures.
func Table(w io.Writer, rows []Row) error {
	var b strings.Builder
	var notes []string
	b.WriteString("| Scenario | Stock | Patched | Ratio | Confidence | Goal | Met |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		var goals, met []string
		for _, g := range r.Goals {
			goals = append(goals, g.Text)
			answer := "yes"
			if !g.Met {
				answer = "**no**"
			}
			met = append(met, fmt.Sprintf("%s (%s)", answer, g.Figure))
		}
		ratio, certainty := r.ratio()
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.What, r.Stock.in(r.Unit), r.Patched.in(r.Unit),
			ratio, certainty, strings.Join(goals, "; "), strings.Join(met, "; "))
		for _, w := range r.warnings() {
			if note := fmt.Sprintf("- %s\n", w); !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	if len(notes) > 0 {
		b.WriteString("\n" + strings.Join(notes, ""))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ratio is the ratio of patched to stock, with the p-value of their difference, "~" if none was
// found.
func (r Row) ratio() (figure, certainty string) {
	if len(r.Stock) == 0 || len(r.Patched) == 0 || r.Stock.median() == 0 {
		return "-", "-"
	}
	test := r.Patched.compare(r.Stock)
	certainty = test.String()
	if test.P > test.Alpha {
		certainty = "~ " + certainty
	}
	return fmt.Sprintf("%.2f", ratio(r.Patched, r.Stock)), certainty
}

// warnings say why an interval or a comparison means less than it seems to.
func (r Row) warnings() []error {
	var all []error
	for _, side := range r.sides() {
		if len(side.sample) > 0 {
			all = append(all, side.sample.summary().Warnings...)
		}
	}
	if len(r.Stock) > 0 && len(r.Patched) > 0 {
		all = append(all, r.Patched.compare(r.Stock).Warnings...)
	}
	return all
}
