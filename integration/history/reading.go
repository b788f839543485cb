// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// Reading is the result of checking the record of one connection.
type Reading struct {
	faults     []string
	ends       map[string]time.Time
	joined     time.Time // when Synchronize came
	synced     time.Time // when Synchronize was answered, zero if it was not
	last       time.Time // when the last event came
	pods       map[string]*pod
	containers map[string]*container
	earlier    map[string]bool // ids that earlier connections knew
}

// joining are the first events of each connection.
var joining = []plugin.Event{plugin.Configure, plugin.Synchronize}

// Read checks the record of one connection. ends are the pods, by id, whose stop or
// removal was requested, and since when: such a pod may be in Synchronize as stopped,
// which the record does not tell, and then its Stop does not come again (L2). earlier are
// the records of earlier connections of the plugin's name: ends of what those knew may
// come now (L18).
func Read(calls plugin.Calls, ends map[string]time.Time, earlier ...plugin.Calls) *Reading {
	r := &Reading{ends: ends, pods: map[string]*pod{}, containers: map[string]*container{}, earlier: idsIn(earlier)}
	for i, call := range calls {
		r.last = call.Start
		if i > 0 {
			r.oneAtATime(calls[i-1], call)
		}
		if i < len(joining) && call.Event != joining[i] {
			r.fault("L1", call, "comes in place of %s", joining[i])
			return r
		}
		switch {
		case i == 0:
		case i == 1:
			r.list(call)
		case call.Event == plugin.Configure || call.Event == plugin.Synchronize:
			r.fault("L1", call, "comes again")
		case call.Container == nil:
			r.pod(call)
		default:
			r.container(call)
		}
	}
	return r
}

// idsIn are the pods and containers that records tell of.
func idsIn(records []plugin.Calls) map[string]bool {
	ids := map[string]bool{}
	for _, record := range records {
		for _, call := range record {
			for _, p := range append(call.Pods[:len(call.Pods):len(call.Pods)], call.Pod) {
				ids[p.GetId()] = true
			}
			for _, c := range append(call.Containers[:len(call.Containers):len(call.Containers)], call.Container) {
				ids[c.GetId()] = true
			}
		}
	}
	return ids
}

// Faults are the rules that were broken, and by which events.
func (r *Reading) Faults() []string { return r.faults }

// Alive lists the pods and containers whose removal the connection did not get.
func (r *Reading) Alive() []string {
	var alive []string
	for id, p := range r.pods {
		if p.at != removed {
			alive = append(alive, "pod "+id)
		}
	}
	for id, c := range r.containers {
		if c.at != removed {
			alive = append(alive, "container "+id+" of pod "+c.pod)
		}
	}
	slices.Sort(alive)
	return alive
}

// fault records a rule that an event broke.
func (r *Reading) fault(rule string, call plugin.Call, format string, args ...any) {
	what := string(call.Event)
	if c := call.Container; c != nil {
		what += " of container " + c.GetId()
	}
	if p := call.Pod; p != nil {
		what += " of pod " + p.GetId()
	}
	r.faults = append(r.faults, rule+": "+what+" "+fmt.Sprintf(format, args...))
}

// oneAtATime checks that an event came after the plugin's answer to the one before,
// whatever had become of that one's caller or its timeout.
func (r *Reading) oneAtATime(before, call plugin.Call) {
	if before.End.IsZero() || call.Start.Before(before.End) {
		r.fault("L4", call, "comes while %s is being answered", before.Event)
	}
}

// list records the pods and containers in Synchronize.
func (r *Reading) list(call plugin.Call) {
	r.joined, r.synced = call.Start, call.End
	for _, p := range call.Pods {
		if r.pods[p.GetId()] != nil {
			r.fault("L1", call, "lists pod %s twice", p.GetId())
		}
		r.pods[p.GetId()] = &pod{listed: true}
	}
	for _, c := range call.Containers {
		if r.containers[c.GetId()] != nil {
			r.fault("L1", call, "lists container %s twice", c.GetId())
		}
		if r.pods[c.GetPodSandboxId()] == nil {
			r.fault("L2", call, "lists container %s, but not its pod", c.GetId())
		}
		r.containers[c.GetId()] = &container{pod: c.GetPodSandboxId(), listed: true}
	}
}
