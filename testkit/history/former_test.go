// SPDX-License-Identifier: Apache-2.0

package history

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// records makes the records of the connections of a name, separated by |. A word with a ? at its end
// was not answered.
func records(text string) (all []plugin.Calls) {
	for _, one := range strings.Split(text, "|") {
		var unanswered []int
		for i, word := range strings.Fields(one) {
			if strings.HasSuffix(word, "?") {
				unanswered = append(unanswered, i+1)
			}
		}
		calls := record(strings.ReplaceAll(one, "?", ""))
		for _, i := range unanswered {
			calls[i].End = time.Time{}
		}
		all = append(all, calls)
	}
	return all
}

func TestLegalRecordsOfAName(t *testing.T) {
	for _, text := range []string{
		"- Run:p | - Stop:p Remove:p",
		"- Run:p Create:p/c | - Stop:p/c Remove:p/c Stop:p Remove:p",
		"- Run:p Create:p/c Stop:p/c | - Stop:p Remove:p/c Remove:p",
		"- Run:p Stop:p? | - Stop:p Remove:p",
		"- Run:p Stop:p? | p Stop:p Remove:p",
		"- Run:p Stop:p | p Remove:p",                 // it was stopped before
		"- Run:p Stop:p Remove:p? | - Remove:p",       // sent again
		"- Run:p Stop:p Remove:p | - Remove:p",        // the answer was lost
		"- Run:p Stop:p Remove:p | p Stop:p Remove:p", // the runtime was killed before it forgot it
		"- Run:p? | - Run:p Stop:p Remove:p",          // it was being created
		"- Run:p Create:p/c | p Create:p/c Stop:p/c Stop:p Remove:p/c Remove:p",
		"- Run:p | p | - Stop:p Remove:p",
		"- Run:p Stop:p Remove:p | - Remove:p | - Remove:p", // its answer was lost, too
		"- Run:p Stop:p Remove:p | - | - Remove:p",          // the second closed before it was sent
		"- Run:p | q? | - Stop:p Remove:p",                  // the second never answered Synchronize
	} {
		all := records(text)
		for i := range all {
			require.Empty(t, Read(all[i], nil, all[:i]...).Faults(), text)
		}
		require.Empty(t, ReadLast(all, nil).Alive(), text)
	}
}

func TestIllegalRecordsOfAName(t *testing.T) {
	for text, fault := range map[string]string{
		"- Run:p | - Remove:p":                                  "L3: RemovePodSandbox of pod p comes without StopPodSandbox",
		"- Run:p | - Stop:p Stop:p":                             "L3: StopPodSandbox of pod p comes twice",
		"- Run:p | - Update:p":                                  "L3: UpdatePodSandbox of pod p is of a pod that the plugin does not know",
		"- Run:p | - Create:p/c":                                "L3: CreateContainer of container c of pod p is of a pod that the plugin does not know",
		"- Run:p | - Stop:p Remove:p Remove:p":                  "L3: RemovePodSandbox of pod p comes after its removal",
		"- Run:p Stop:p Remove:p | - | - Remove:p Remove:p":     "L3: RemovePodSandbox of pod p comes after its removal",
		"- Run:p Create:p/c | - Stop:p":                         "L1: StopPodSandbox of pod p comes before that of container c",
		"- Run:p Create:p/c Stop:p/c? | - Stop:p":               "L1: StopPodSandbox of pod p comes before that of container c",
		"- Run:p Create:p/c Stop:p/c | - Stop:p Remove:p":       "L1: RemovePodSandbox of pod p comes before that of container c",
		"- Run:p Create:p/c | p PostStart:p/c":                  "L3: PostStartContainer of container c of pod p is of a container that the plugin does not know",
		"- | p? | - Stop:p":                                     "L3: StopPodSandbox of pod p is of a pod that the plugin does not know",
		"- Run:p Stop:p? | - Remove:p":                          "L3: RemovePodSandbox of pod p comes without StopPodSandbox",
		"- Run:p Create:p/c Stop:p/c Remove:p/c? | - Stop:p/c?": "",
	} {
		var faults []string
		all := records(text)
		for i := range all {
			faults = append(faults, Read(all[i], nil, all[:i]...).Faults()...)
		}
		if fault == "" {
			require.Empty(t, faults, text)
			continue
		}
		require.Len(t, faults, 1, text)
		require.Contains(t, faults[0], fault, text)
	}
}

func TestAliveOfAName(t *testing.T) {
	for text, alive := range map[string][]string{
		"- Run:p | -":                            {"pod p"},
		"- Run:p Stop:p Remove:p? | -":           {"pod p"},
		"- Run:p Stop:p Remove:p | -":            nil,
		"- Run:p Create:p/c Stop:p/c | p":        {"container c of pod p", "pod p"},
		"- Run:p Stop:p Remove:p | p":            {"pod p"},
		"- Run:p | - | - | - Stop:p Remove:p":    nil,
		"- Run:p | - Stop:p Remove:p? | - Run:q": {"pod p", "pod q"},
	} {
		all := records(text)
		require.Equal(t, alive, ReadLast(all, nil).Alive(), text)
	}
}
