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

// verdict is whether a rule of the contract held.
type verdict struct {
	rule, promise string
	broken        []string // what broke it; none: it held
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
		{"L1", "events of a pod come in order", s.outOfOrder()},
		{"L3", "plugins that know a pod or container get its stop and removal once, and no others do", s.teardownFaults()},
		{"L7", "a refused pod leaves nothing behind", s.left},
		{"L8", "no plugin fails a stop or a removal", s.failedTeardowns()},
		{"L9", "a stop waits one request timeout at most", s.longWaits()},
	}
}

// stage orders the events of a pod or container.
var stage = map[plugin.Event]int{
	plugin.RunPodSandbox: 0, plugin.CreateContainer: 1, plugin.PostCreateContainer: 2, plugin.StartContainer: 3, plugin.PostStartContainer: 4,
	plugin.StopContainer: 5, plugin.RemoveContainer: 6, plugin.StopPodSandbox: 7, plugin.RemovePodSandbox: 8,
}

func (s *story) outOfOrder() (broken []string) {
	for _, r := range s.told {
		for pod, calls := range r.byPod() {
			last := -1
			for _, call := range calls {
				if stage[call.Event] < last {
					broken = append(broken, fmt.Sprintf("%s got %s of pod %s too late", r.name, call.Event, pod))
				}
				last = max(last, stage[call.Event])
			}
		}
	}
	slices.Sort(broken)
	return broken
}

// teardownFaults lists stops and removals that a plugin missed, got twice, or got of
// an unknown pod. A plugin that the runtime disconnected gets nothing more.
func (s *story) teardownFaults() (broken []string) {
	for _, r := range s.told {
		for pod, calls := range r.byPod() {
			for _, life := range []struct {
				begin plugin.Event
				ends  []plugin.Event
			}{
				{plugin.RunPodSandbox, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}},
				{plugin.CreateContainer, []plugin.Event{plugin.StopContainer, plugin.RemoveContainer}},
			} {
				knows := len(calls.Only(life.begin)) > 0
				for _, end := range life.ends {
					switch n := len(calls.Only(end)); {
					case !knows && n > 0:
						broken = append(broken, fmt.Sprintf("%s got %s of pod %s, which it did not know", r.name, end, pod))
					case knows && n == 0 && !r.dropped:
						broken = append(broken, fmt.Sprintf("%s never got %s of pod %s", r.name, end, pod))
					case n > 1:
						broken = append(broken, fmt.Sprintf("%s got %s of pod %s %d times", r.name, end, pod, n))
					}
				}
			}
		}
	}
	slices.Sort(broken)
	return broken
}

func (s *story) failedTeardowns() (broken []string) {
	for _, st := range s.steps {
		if st.teardown() && st.err != nil {
			broken = append(broken, fmt.Sprintf("%s: %v", st.what, st.err))
		}
	}
	return broken
}

// slack is what the rest of a stop may take: the process, the network.
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

func (r record) byPod() map[string]plugin.Calls {
	pods := map[string]plugin.Calls{}
	for _, call := range r.calls {
		if name := call.Pod.GetName(); name != "" {
			pods[name] = append(pods[name], call)
		}
	}
	return pods
}
