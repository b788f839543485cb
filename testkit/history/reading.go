// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Reading is the result of checking the record of one connection.
type Reading struct {
	former     *Reading // of the connection before, nil for the first
	faults     []string
	ends       map[string]time.Time
	joined     time.Time // when Synchronize came
	synced     time.Time // when Synchronize was answered, zero if it was not
	last       time.Time // when the last event came
	pods       map[string]*pod
	containers map[string]*container
	unanswered map[string]stage // the stages of ends that were not answered, by id
}

// joining are the first events of each connection.
var joining = []plugin.Event{plugin.Configure, plugin.Synchronize}

// Read checks the record of one connection. ends are the pods, by id, whose stop or removal was
// requested, with the time of the request. Such a pod may be in Synchronize as stopped, which the
// record does not show, and then its Stop does not come again (L2). earlier are the records of the
// earlier connections of the plugin's name, in order: the ends of objects that they knew are
// delivered now, unless they have received them (L18).
func Read(calls plugin.Calls, ends map[string]time.Time, earlier ...plugin.Calls) *Reading {
	var before *Reading
	for _, record := range earlier {
		before = read(before, record, ends)
	}
	return read(before, calls, ends)
}

// ReadLast checks the record of the last of a name's connections, after the earlier ones.
func ReadLast(records []plugin.Calls, ends map[string]time.Time) *Reading {
	last := len(records) - 1
	return Read(records[last], ends, records[:last]...)
}

func read(before *Reading, calls plugin.Calls, ends map[string]time.Time) *Reading {
	r := &Reading{
		former: before, ends: ends,
		pods: map[string]*pod{}, containers: map[string]*container{}, unanswered: map[string]stage{},
	}
	r.inherit(before)
	for i, call := range calls {
		r.last = call.Start
		r.unheard(call)
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

// Faults returns the rules that were broken, with the events that broke them.
func (r *Reading) Faults() []string { return r.faults }

// Alive lists the pods and containers whose removal neither the connection nor an earlier one of its
// name received.
func (r *Reading) Alive() []string {
	var alive []string
	for id, p := range r.pods {
		if !p.ended() {
			alive = append(alive, "pod "+id)
		}
	}
	for id, c := range r.containers {
		if !c.ended() {
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

// oneAtATime checks that an event came after the plugin's answer to the event before, even if that
// one's caller had canceled or its timeout had passed.
func (r *Reading) oneAtATime(before, call plugin.Call) {
	if before.End.IsZero() || call.Start.Before(before.End) {
		r.fault("L4", call, "comes while %s is being answered", before.Event)
	}
}

// list records the pods and containers in Synchronize.
func (r *Reading) list(call plugin.Call) {
	r.joined, r.synced = call.Start, call.End
	for _, p := range call.Pods {
		if r.listsPod(p.GetId()) {
			r.fault("L1", call, "lists pod %s twice", p.GetId())
		}
		r.pods[p.GetId()] = &pod{end: r.pods[p.GetId()].listedAgain(), listed: true}
	}
	for _, c := range call.Containers {
		if r.listsContainer(c.GetId()) {
			r.fault("L1", call, "lists container %s twice", c.GetId())
		}
		if !r.listsPod(c.GetPodSandboxId()) {
			r.fault("L2", call, "lists container %s, but not its pod", c.GetId())
		}
		r.containers[c.GetId()] = &container{end: r.containers[c.GetId()].listedAgain(), pod: c.GetPodSandboxId(), listed: true}
	}
}
