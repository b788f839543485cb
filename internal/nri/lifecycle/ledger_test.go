// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// steps runs events through a ledger and returns those that it lets pass.
func steps(g *ledger, events ...string) string {
	var sent []string
	for _, s := range events {
		ev := event(s)
		if !ev.Kind.final() {
			if ok, err := g.admit(ev); err != nil {
				sent = append(sent, "!"+s)
			} else if ok {
				sent = append(sent, s)
			}
			continue
		}
		for {
			kind, container, ok := g.step(ev)
			if !ok {
				break
			}
			sent = append(sent, record{Event: Event{Kind: kind, Pod: ev.Pod, Container: container}}.String())
		}
	}
	return strings.Join(sent, " ")
}

func TestLedger(t *testing.T) {
	for _, tc := range []struct {
		name   string
		seed   Snapshot
		events string
		sent   string // "=" for all
	}{
		{
			name: "L1 a whole life",
			events: "RunPodSandbox:p UpdatePodSandbox:p CreateContainer:p/c PostCreateContainer:p/c StartContainer:p/c " +
				"PostStartContainer:p/c UpdateContainer:p/c StopContainer:p/c RemoveContainer:p/c StopPodSandbox:p RemovePodSandbox:p",
			sent: "=",
		},
		{
			name:   "L1 Run follows Synchronize once",
			seed:   Snapshot{Pods: pods("p")},
			events: "RunPodSandbox:p RunPodSandbox:p StopPodSandbox:p RunPodSandbox:p",
			sent:   "RunPodSandbox:p StopPodSandbox:p !RunPodSandbox:p",
		},
		{
			name:   "L1 Create does not follow Synchronize",
			seed:   Snapshot{Pods: pods("p"), Containers: []Object{{Pod: "p", Container: "c"}}},
			events: "CreateContainer:p/c PostCreateContainer:p/c",
			sent:   "PostCreateContainer:p/c",
		},
		{
			name:   "L1 containers stop before their pod",
			events: "RunPodSandbox:p CreateContainer:p/c CreateContainer:q/x StopPodSandbox:p StopContainer:p/c",
			sent:   "RunPodSandbox:p CreateContainer:p/c CreateContainer:q/x StopContainer:p/c StopPodSandbox:p",
		},
		{
			name:   "L1 Stop comes before Remove",
			events: "RunPodSandbox:p CreateContainer:p/c RemoveContainer:p/c RemovePodSandbox:p",
			sent:   "RunPodSandbox:p CreateContainer:p/c StopContainer:p/c RemoveContainer:p/c StopPodSandbox:p RemovePodSandbox:p",
		},
		{
			name:   "L2 a pod that was stopped gets its Remove",
			seed:   Snapshot{Pods: []Object{{Pod: "p", Stopped: true}}},
			events: "UpdatePodSandbox:p StopPodSandbox:p RemovePodSandbox:p",
			sent:   "RemovePodSandbox:p",
		},
		{
			name:   "L3 nothing of the unknown",
			events: "UpdatePodSandbox:p StartContainer:p/c StopContainer:p/c RemoveContainer:p/c StopPodSandbox:p RemovePodSandbox:p",
		},
		{
			name:   "L3 a container of a pod that is unknown",
			events: "CreateContainer:p/c StopPodSandbox:p RemovePodSandbox:p",
			sent:   "CreateContainer:p/c StopContainer:p/c RemoveContainer:p/c",
		},
		{
			name:   "L11 nothing twice",
			events: "RunPodSandbox:p StopPodSandbox:p StopPodSandbox:p RemovePodSandbox:p RemovePodSandbox:p",
			sent:   "RunPodSandbox:p StopPodSandbox:p RemovePodSandbox:p",
		},
		{
			name:   "L11 no container in a stopped pod",
			events: "RunPodSandbox:p StopPodSandbox:p CreateContainer:p/c",
			sent:   "RunPodSandbox:p StopPodSandbox:p !CreateContainer:p/c",
		},
		{
			name:   "L11 no start of a container that has stopped",
			events: "RunPodSandbox:p CreateContainer:p/c StopContainer:p/c StartContainer:p/c CreateContainer:p/c UpdateContainer:p/c",
			sent:   "RunPodSandbox:p CreateContainer:p/c StopContainer:p/c !StartContainer:p/c !CreateContainer:p/c",
		},
		{
			name:   "L11 no start in a pod that was stopped before",
			seed:   Snapshot{Pods: []Object{{Pod: "p", Stopped: true}}, Containers: []Object{{Pod: "p", Container: "c"}}},
			events: "StartContainer:p/c RunPodSandbox:p",
			sent:   "!StartContainer:p/c !RunPodSandbox:p",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newLedger()
			g.seed(tc.seed)
			want := tc.sent
			if want == "=" {
				want = tc.events
			}
			assert.Equal(t, want, steps(&g, strings.Fields(tc.events)...))
		})
	}
}

// A ledger is empty once all has ended: what a node goes through in a year
// leaves nothing.
func TestLedgerForgets(t *testing.T) {
	g := newLedger()
	g.seed(Snapshot{Pods: pods("a"), Containers: []Object{{Pod: "a", Container: "c0"}}})
	steps(&g, "RunPodSandbox:p", "CreateContainer:p/c", "CreateContainer:q/d",
		"RemovePodSandbox:a", "RemovePodSandbox:p", "RemoveContainer:q/d")
	assert.Empty(t, g.pods)
	assert.Empty(t, g.containers)
}
