// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// write prints a line per CRI request and per event, with a column per plugin, and
// the rules.
func (s *story) write(out io.Writer) {
	fmt.Fprintf(out, "\nThe events that each plugin received, in order. Plugins have %s to answer.\n\n", timeout)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "at\trequest and events")
	for _, r := range s.received {
		fmt.Fprintf(w, "\t%s", r.name)
	}
	fmt.Fprintln(w)
	for _, l := range s.lines() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", ms(l.at.Sub(s.start)), l.text, strings.Join(l.cells, "\t"))
	}
	w.Flush()
	writeRules(out, s.rules())
}

// line is one row. The cells of requests are empty.
type line struct {
	at    time.Time
	text  string
	cells []string
}

// lines merges requests and events by time.
func (s *story) lines() []line {
	var lines []line
	for _, st := range s.steps {
		l := line{at: st.start, text: fmt.Sprintf("%s (%s)", st.what, ms(st.took())), cells: make([]string, len(s.received))}
		if st.err != nil {
			l.text += ": rejected"
		}
		lines = append(lines, l)
	}
	lines = append(lines, s.events()...)
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	return lines
}

// events has one line per event of a pod or container, with the answer of each plugin.
func (s *story) events() []line {
	type key struct {
		event plugin.Event
		pod   string
	}
	byKey := map[key]*line{}
	for i, r := range s.received {
		for _, call := range r.calls {
			if call.Pod == nil {
				continue
			}
			k := key{call.Event, call.Pod.GetName()}
			l := byKey[k]
			if l == nil {
				l = &line{at: call.Start, text: "  " + string(call.Event), cells: slices.Repeat([]string{"-"}, len(s.received))}
				byKey[k] = l
			}
			if call.Start.Before(l.at) {
				l.at = call.Start
			}
			l.cells[i] = answer(call)
			if call.End.IsZero() && r.dropped {
				l.cells[i] = "hangs, dropped"
			}
		}
	}
	var lines []line
	for _, l := range byKey {
		lines = append(lines, *l)
	}
	return lines
}

// answer is a call in one word.
func answer(call plugin.Call) string {
	switch {
	case call.End.IsZero():
		return "hangs"
	case call.Err != nil:
		return "fails"
	default:
		return "ok"
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
