// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// epoch is when the first event of a record comes; one follows each second.
var epoch = time.Unix(1e9, 0)

// record makes the record of a connection from words such as Stop:p, for StopPodSandbox of pod p,
// and Stop:p/c, for StopContainer of its container c. The first word lists the objects in
// Synchronize.
func record(text string) plugin.Calls {
	words := strings.Fields(text)
	synchronize := plugin.Call{Event: plugin.Synchronize}
	for _, name := range strings.Split(words[0], ",") {
		switch pod, container, isContainer := strings.Cut(name, "/"); {
		case isContainer:
			synchronize.Containers = append(synchronize.Containers, &api.Container{Id: container, PodSandboxId: pod})
		case pod != "-":
			synchronize.Pods = append(synchronize.Pods, &api.PodSandbox{Id: pod})
		}
	}
	calls := plugin.Calls{{Event: plugin.Configure}, synchronize}
	for _, word := range words[1:] {
		verb, object, _ := strings.Cut(word, ":")
		pod, container, isContainer := strings.Cut(object, "/")
		call := plugin.Call{Event: plugin.Event(verb + "PodSandbox"), Pod: &api.PodSandbox{Id: pod}}
		if isContainer {
			call.Event, call.Container = plugin.Event(verb+"Container"), &api.Container{Id: container}
		}
		calls = append(calls, call)
	}
	for i := range calls {
		calls[i].Start = epoch.Add(time.Duration(i) * time.Second)
		calls[i].End = calls[i].Start
	}
	return calls
}

func TestLegalRecords(t *testing.T) {
	for _, text := range []string{
		"-",
		"- Run:p Update:p PostUpdate:p Stop:p Remove:p",
		"- Run:p Create:p/c PostCreate:p/c Start:p/c PostStart:p/c Update:p/c PostUpdate:p/c Stop:p/c Remove:p/c Stop:p Remove:p",
		"- Run:p Create:p/c Stop:p/c Remove:p/c Create:p/d Stop:p/d Stop:p Remove:p/d Remove:p",
		"p Run:p Stop:p Remove:p",
		"p,p/c PostCreate:p/c Start:p/c Stop:p/c Stop:p Remove:p/c Remove:p",
		"p,q Remove:q Stop:p Remove:p", // q was stopped before
	} {
		r := Read(record(text), map[string]time.Time{"q": epoch})
		require.Empty(t, r.Faults(), text)
		require.Empty(t, r.Alive(), text)
	}
}

func TestIllegalRecords(t *testing.T) {
	for text, fault := range map[string]string{
		"- Stop:p":                              "L3: StopPodSandbox of pod p is of a pod that the plugin does not know",
		"- Remove:p":                            "L3: RemovePodSandbox of pod p is of a pod",
		"- Stop:p/c":                            "L3: StopContainer of container c of pod p is of a container that the plugin does not know",
		"- Create:p/c":                          "L3: CreateContainer of container c of pod p is of a pod",
		"- Run:p Run:p":                         "L1: RunPodSandbox of pod p comes for a pod that the plugin knows already",
		"p Update:p Run:p":                      "L1: RunPodSandbox of pod p comes for a pod that the plugin knows already",
		"p,p":                                   "L1: Synchronize lists pod p twice",
		"p,p/c,p/c":                             "L1: Synchronize lists container c twice",
		"p/c":                                   "L2: Synchronize lists container c, but not its pod",
		"p Remove:p":                            "L3: RemovePodSandbox of pod p comes without StopPodSandbox",
		"- Run:q Remove:q":                      "L3: RemovePodSandbox of pod q comes without StopPodSandbox",
		"p Stop:p Stop:p":                       "L3: StopPodSandbox of pod p comes twice",
		"p Stop:p Remove:p Remove:p":            "L3: RemovePodSandbox of pod p comes after its removal",
		"p Stop:p Remove:p Run:p":               "L3: RunPodSandbox of pod p comes after its removal",
		"p Stop:p Update:p":                     "L1: UpdatePodSandbox of pod p comes after StopPodSandbox",
		"p,p/c Stop:p":                          "L1: StopPodSandbox of pod p comes before that of container c",
		"p,p/c Stop:p/c Stop:p Remove:p":        "L1: RemovePodSandbox of pod p comes before that of container c",
		"p,p/c Create:p/c":                      "L1: CreateContainer of container c of pod p comes for a container that the plugin knows already",
		"p Stop:p Create:p/c":                   "L11: CreateContainer of container c of pod p comes after the stop of the pod",
		"p Create:p/c Start:p/c PostCreate:p/c": "L1: PostCreateContainer of container c of pod p comes out of order",
		"p,p/c Start:p/c Start:p/c":             "L1: StartContainer of container c of pod p comes out of order",
		"p,p/c Stop:p/c PostStart:p/c":          "L1: PostStartContainer of container c of pod p comes after StopContainer",
		"p,p/c Stop:p/c Stop:p/c":               "L3: StopContainer of container c of pod p comes twice",
		"p,p/c Remove:p/c":                      "L3: RemoveContainer of container c of pod p comes without StopContainer",
		"p,p/c Stop:p/c Remove:p/c Stop:p/c":    "L3: StopContainer of container c of pod p comes after its removal",
		"p,p/c Stop:p/c Stop:p Remove:p/c Remove:p/c":    "L3: RemoveContainer of container c of pod p comes after its removal",
		"p Create:p/c Stop:p/c Remove:p/c PostStart:p/c": "L3: PostStartContainer of container c of pod p comes after its removal",
	} {
		// The end of q is requested too late to be known in Synchronize.
		r := Read(record(text), map[string]time.Time{"q": epoch})
		require.Len(t, r.Faults(), 1, text)
		require.Contains(t, r.Faults()[0], fault, text)
	}
}

func TestJoinComesFirstAndOnce(t *testing.T) {
	legal, again := record("- Run:p"), record("- Run:p Run:q")
	again[3].Event = plugin.Synchronize
	for _, calls := range []plugin.Calls{legal[1:], legal[2:], append(legal[:1:1], legal[2:]...), again} {
		require.Len(t, Read(calls, nil).Faults(), 1, calls.Events())
	}
}

func TestOneAtATime(t *testing.T) {
	calls := record("- Run:p Run:q")
	calls[2].End = calls[3].Start.Add(time.Millisecond)
	require.Equal(t, []string{"L4: RunPodSandbox of pod q comes while RunPodSandbox is being answered"}, Read(calls, nil).Faults())
	calls[2].Abandoned = context.DeadlineExceeded
	require.Len(t, Read(calls, nil).Faults(), 1, "it was sent an event while another was unanswered")
	calls[2].End = time.Time{}
	require.Len(t, Read(calls, nil).Faults(), 1, "it has not answered at all")
	calls[2].End = calls[3].Start
	require.Empty(t, Read(calls, nil).Faults())
}

func TestAlive(t *testing.T) {
	r := Read(record("p,p/c Run:q Create:q/d Stop:p/c Stop:q/d Remove:q/d Stop:q Remove:q"), nil)
	require.Empty(t, r.Faults())
	require.Equal(t, []string{"container c of pod p", "pod p"}, r.Alive())
}

func TestMissed(t *testing.T) {
	at := func(second int) time.Time { return epoch.Add(time.Duration(second) * time.Second) }
	r := Read(record("p,p/c Run:q Create:q/d"), nil) // synchronized at second 1, last heard of at 3
	for _, c := range []struct {
		begin, end int
		missed     bool
	}{
		{-5, 1, false}, {-5, 2, true}, {2, 9, true}, {2, 3, true}, {3, 9, false}, {4, 9, false},
	} {
		got := r.Missed([]Life{{"x", at(c.begin), at(c.end)}, {"q", at(-5), at(9)}, {"c", at(-5), at(9)}}, time.Time{})
		require.Equal(t, c.missed, len(got) == 1, "%+v: %v", c, got)
	}
	require.Equal(t, []string{"x"}, r.Missed([]Life{{ID: "x", Begin: at(5)}}, at(6)), "a life that goes on")
	require.Empty(t, Read(record("-")[:1], nil).Missed([]Life{{ID: "x", Begin: at(-5)}}, at(9)), "never synchronized")
}
