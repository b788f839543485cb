// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hookline-nri/hookline/testkit/history"
)

// verdict says whether a rule of the contract held.
type verdict struct {
	rule, promise string
	broken        []string // its violations; none if it held
}

func writeRules(out io.Writer, verdicts []verdict) {
	fmt.Fprint(out, "\nWhich rules held (docs/contract.md):\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		state := "held"
		if len(v.broken) > 0 {
			state = "BROKEN"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.rule, state, v.promise)
		for _, b := range v.broken {
			fmt.Fprintf(w, "\t\t  %s\n", b)
		}
	}
	w.Flush()
}

func (s *story) rules() []verdict {
	return []verdict{
		{"L1", "events of a pod come in order", s.faults("L1")},
		{"L3", "plugins that know a pod or container receive its stop and removal once, and no others do", s.faults("L3")},
		{"L7", "a rejected pod leaves nothing behind", s.left},
		{"L8", "no plugin fails a stop or a removal", s.failedTeardowns()},
		{"L9", "a stop waits one request timeout at most", s.longWaits()},
	}
}

// faults lists the violations of a rule about the events that plugins receive. A plugin that the
// runtime disconnected receives nothing more.
func (s *story) faults(rule string) (broken []string) {
	for _, r := range s.received {
		reading := history.Read(r.calls, nil)
		for _, fault := range reading.Faults() {
			if of, what, _ := strings.Cut(fault, ": "); of == rule {
				broken = append(broken, fmt.Sprintf("%s: %s", r.name, r.named(what)))
			}
		}
		if rule != "L3" || r.dropped {
			continue
		}
		for _, alive := range reading.Alive() {
			broken = append(broken, fmt.Sprintf("%s never received the removal of %s", r.name, r.named(alive)))
		}
	}
	return broken
}

// named replaces ids of pods and containers by their names.
func (r record) named(text string) string {
	for _, call := range r.calls {
		if id := call.Container.GetId(); id != "" {
			text = strings.ReplaceAll(text, id, call.Container.GetName())
		}
		if id := call.Pod.GetId(); id != "" {
			text = strings.ReplaceAll(text, id, call.Pod.GetName())
		}
	}
	return text
}

func (s *story) failedTeardowns() (broken []string) {
	for _, st := range s.steps {
		if st.teardown() && st.err != nil {
			broken = append(broken, fmt.Sprintf("%s: %v", st.what, st.err))
		}
	}
	return broken
}

// slack is how long the rest of a stop may take: the process, the network.
const slack = 700 * time.Millisecond

func (s *story) longWaits() (broken []string) {
	for _, st := range s.steps {
		if st.teardown() && st.took() > timeout+slack {
			broken = append(broken, fmt.Sprintf("%s took %s", st.what, ms(st.took())))
		}
	}
	return broken
}

func (s step) teardown() bool {
	return strings.HasPrefix(s.what, "Stop") || strings.HasPrefix(s.what, "Remove")
}
