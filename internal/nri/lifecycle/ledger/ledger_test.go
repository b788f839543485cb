// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// event reads an event such as "RunPodSandbox:p1" or "StopContainer:p1/c1".
func event(s string) Event {
	kind, id, _ := strings.Cut(s, ":")
	var ev Event
	ev.Pod, ev.Container, _ = strings.Cut(id, "/")
	ev.Kind = Kind(slices.Index(kindNames[:], kind))
	return ev
}

// eventName is the name of an event, as event takes it.
func eventName(ev Event) string {
	if ev.Container != "" {
		return ev.Kind.String() + ":" + ev.Pod + "/" + ev.Container
	}
	return ev.Kind.String() + ":" + ev.Pod
}

func pods(ids ...string) []Object {
	var objects []Object
	for _, id := range ids {
		objects = append(objects, Object{Pod: id})
	}
	return objects
}

// steps runs events through a ledger and returns those that it admits.
func steps(g *Ledger, events ...string) string {
	var sent []string
	for _, s := range events {
		ev := event(s)
		if !ev.Kind.Final() {
			if ok, err := g.Admit(ev); err != nil {
				sent = append(sent, "!"+s)
			} else if ok {
				sent = append(sent, s)
			}
			continue
		}
		for {
			next, ok := g.Next(ev)
			if !ok {
				break
			}
			g.Delivered(next)
			sent = append(sent, eventName(next))
		}
	}
	return strings.Join(sent, " ")
}

// A ledger keeps order (L1), admits no event of an unknown object (L2, L3), and none twice or
// after its end (L11).
func TestLedger(t *testing.T) {
	for _, tc := range []struct {
		name   string
		seed   Snapshot
		events string
		sent   string // "=" for all
	}{
		{
			name: "a whole life",
			events: "RunPodSandbox:p UpdatePodSandbox:p CreateContainer:p/c PostCreateContainer:p/c StartContainer:p/c " +
				"PostStartContainer:p/c UpdateContainer:p/c StopContainer:p/c RemoveContainer:p/c StopPodSandbox:p RemovePodSandbox:p",
			sent: "=",
		},
		{
			name:   "Run follows Synchronize once",
			seed:   Snapshot{Pods: pods("p")},
			events: "RunPodSandbox:p RunPodSandbox:p StopPodSandbox:p RunPodSandbox:p",
			sent:   "RunPodSandbox:p StopPodSandbox:p !RunPodSandbox:p",
		},
		{
			name:   "a container that is listed twice ends once",
			seed:   Snapshot{Pods: pods("p"), Containers: []Object{{Pod: "p", Container: "c"}, {Pod: "p", Container: "c"}}},
			events: "StopPodSandbox:p RemovePodSandbox:p",
			sent:   "StopContainer:p/c StopPodSandbox:p RemoveContainer:p/c RemovePodSandbox:p",
		},
		{
			name:   "Create does not follow Synchronize",
			seed:   Snapshot{Pods: pods("p"), Containers: []Object{{Pod: "p", Container: "c"}}},
			events: "CreateContainer:p/c PostCreateContainer:p/c",
			sent:   "PostCreateContainer:p/c",
		},
		{
			name:   "containers stop before their pod",
			events: "RunPodSandbox:p CreateContainer:p/c CreateContainer:q/x StopPodSandbox:p StopContainer:p/c",
			sent:   "RunPodSandbox:p CreateContainer:p/c CreateContainer:q/x StopContainer:p/c StopPodSandbox:p",
		},
		{
			name:   "Stop comes before Remove",
			events: "RunPodSandbox:p CreateContainer:p/c RemoveContainer:p/c RemovePodSandbox:p",
			sent:   "RunPodSandbox:p CreateContainer:p/c StopContainer:p/c RemoveContainer:p/c StopPodSandbox:p RemovePodSandbox:p",
		},
		{
			name:   "a pod that was stopped gets its Remove",
			seed:   Snapshot{Pods: []Object{{Pod: "p", Stopped: true}}},
			events: "UpdatePodSandbox:p StopPodSandbox:p RemovePodSandbox:p",
			sent:   "RemovePodSandbox:p",
		},
		{
			name:   "nothing of the unknown",
			events: "UpdatePodSandbox:p StartContainer:p/c StopContainer:p/c RemoveContainer:p/c StopPodSandbox:p RemovePodSandbox:p",
		},
		{
			name:   "a container of a pod that is unknown",
			events: "CreateContainer:p/c StopPodSandbox:p RemovePodSandbox:p",
			sent:   "CreateContainer:p/c StopContainer:p/c RemoveContainer:p/c",
		},
		{
			name:   "nothing twice",
			events: "RunPodSandbox:p StopPodSandbox:p StopPodSandbox:p RemovePodSandbox:p RemovePodSandbox:p",
			sent:   "RunPodSandbox:p StopPodSandbox:p RemovePodSandbox:p",
		},
		{
			name:   "no container in a stopped pod",
			events: "RunPodSandbox:p StopPodSandbox:p CreateContainer:p/c",
			sent:   "RunPodSandbox:p StopPodSandbox:p !CreateContainer:p/c",
		},
		{
			name:   "no start of a container that has stopped",
			events: "RunPodSandbox:p CreateContainer:p/c StopContainer:p/c StartContainer:p/c CreateContainer:p/c UpdateContainer:p/c",
			sent:   "RunPodSandbox:p CreateContainer:p/c StopContainer:p/c !StartContainer:p/c !CreateContainer:p/c",
		},
		{
			name:   "no start in a pod that was stopped before",
			seed:   Snapshot{Pods: []Object{{Pod: "p", Stopped: true}}, Containers: []Object{{Pod: "p", Container: "c"}}},
			events: "StartContainer:p/c RunPodSandbox:p",
			sent:   "!StartContainer:p/c !RunPodSandbox:p",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := Synchronized(tc.seed, New())
			want := tc.sent
			if want == "=" {
				want = tc.events
			}
			assert.Equal(t, want, steps(g, strings.Fields(tc.events)...))
		})
	}
}

// A ledger is empty once all objects have ended: a year on a node leaves nothing.
func TestLedgerForgets(t *testing.T) {
	g := Synchronized(Snapshot{Pods: pods("a"), Containers: []Object{{Pod: "a", Container: "c0"}}}, New())
	steps(g, "RunPodSandbox:p", "CreateContainer:p/c", "CreateContainer:q/d",
		"RemovePodSandbox:a", "RemovePodSandbox:p", "RemoveContainer:q/d")
	assert.Empty(t, g.pods)
}

// A missed first event is delivered late once, if the object was not listed as created and has
// not ended (L2).
func TestLedgerAdmitsLate(t *testing.T) {
	g := Synchronized(Snapshot{Pods: []Object{{Pod: "made"}, {Pod: "creating", Creating: true}, {Pod: "over", Stopped: true}}}, New())
	for _, tc := range []struct {
		event string
		admit bool
	}{
		{"RunPodSandbox:new", true},
		{"RunPodSandbox:new", false},
		{"RunPodSandbox:made", false},
		{"RunPodSandbox:creating", true},
		{"RunPodSandbox:creating", false},
		{"RunPodSandbox:over", false},
		{"CreateContainer:made/c", true},
		{"CreateContainer:made/c", false},
		{"CreateContainer:over/c", false},
	} {
		assert.Equal(t, tc.admit, g.AdmitLate(event(tc.event)), tc.event)
	}
}

// A plugin that has received an end has received all ends that it covers (L1).
func TestEndsCoverEnds(t *testing.T) {
	for _, tc := range []struct {
		end, covered, not string
	}{
		{"RemovePodSandbox:p", "RemovePodSandbox:p StopPodSandbox:p RemoveContainer:p/c StopContainer:p/c", "StopPodSandbox:q StopContainer:q/c"},
		{"StopPodSandbox:p", "StopPodSandbox:p StopContainer:p/c", "RemovePodSandbox:p RemoveContainer:p/c"},
		{"RemoveContainer:p/c", "RemoveContainer:p/c StopContainer:p/c", "StopContainer:p/d StopPodSandbox:p"},
		{"StopContainer:p/c", "StopContainer:p/c", "RemoveContainer:p/c StopContainer:p/d StopContainer:q/c"},
	} {
		end := event(tc.end)
		for _, s := range strings.Fields(tc.covered) {
			ev := event(s)
			assert.True(t, end.Covers(&ev), "%s covers %s", end, ev)
		}
		for _, s := range strings.Fields(tc.not) {
			ev := event(s)
			assert.False(t, end.Covers(&ev), "%s covers %s", end, ev)
		}
	}
}
