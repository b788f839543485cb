// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "errors"

// ErrStopped refuses what begins in a pod that is being stopped, or what is
// itself being undone or has ended: a creation, or a start (L11).
var ErrStopped = errors.New("already stopped")

// A ledger is what one connection knows of each pod and container, and so
// what it may still be sent. It is where order, ends and the last word are kept,
// for all connections, in one place (L1, L3, L11).
//
// An entry is made just before the first event is sent, not when it
// succeeded: a plugin that refused or timed out may have acted on it, and
// must hear the end. An entry is gone once its Remove is sent.
//
// A ledger has no lock of its own; its lane's lock guards it.
type ledger struct {
	pods       map[string]podEntry
	containers map[string]containerEntry
}

// A mark is how far a pod or container has come for a connection.
type mark uint8

const (
	// unknown is the mark of a pod of which the connection knows containers alone.
	unknown mark = iota
	// listed: told of by Synchronize. A pod's Run may still follow (L1).
	listed
	// told: told of by its first event.
	told
	// stopped: had its Stop, or was stopped when the connection joined.
	stopped
)

type podEntry struct {
	containers int32 // that are known
	running    int32 // of those, the ones that had no Stop
	mark       mark
	creating   bool // listed while it was being created: its first event may still come, late
	former     bool // as of a container
	unheard    bool // as of a container
}

type containerEntry struct {
	pod    string
	mark   mark
	former bool // told to an earlier connection of the name, and not to this one

	unheard bool // stopped, as far as all else is concerned, and its Stop is still to be told
}

// stops says whether the Stop of a container is still to be told.
func (c containerEntry) stops() bool { return c.mark != stopped || c.unheard }

// stops says so of a pod.
func (p podEntry) stops() bool { return p.mark == listed || p.mark == told || p.unheard }

func newLedger() ledger {
	return ledger{pods: make(map[string]podEntry), containers: make(map[string]containerEntry)}
}

// seed enters what the connection was told of by Synchronize.
func (g *ledger) seed(s Snapshot) {
	for _, p := range s.Pods {
		m := listed
		if p.Stopped {
			m = stopped
		}
		g.pods[p.Pod] = podEntry{mark: m, creating: p.Creating}
	}
	for _, c := range s.Containers {
		g.enter(c.Pod, c.Container, listed)
	}
}

// enter adds a container.
func (g *ledger) enter(pod, container string, m mark) {
	g.containers[container] = containerEntry{pod: pod, mark: m}
	p := g.pods[pod]
	p.containers++
	if m != stopped {
		p.running++
	}
	g.pods[pod] = p
}

// admit says whether an event that is not an end may be sent, and enters it
// if it is a first one. ErrStopped says that there must be no such event: what
// begins after its end is refused, and never passed over as if it went on untold.
func (g *ledger) admit(ev Event) (bool, error) {
	pod, c := g.pods[ev.Pod], g.containers[ev.Container]
	if ev.Kind.begins() && (pod.mark == stopped || c.mark == stopped) {
		return false, ErrStopped
	}
	switch {
	case ev.Kind == RunPodSandbox:
		if pod.mark > listed {
			return false, nil
		}
		pod.mark, pod.former = told, false
		g.pods[ev.Pod] = pod
		return true, nil
	case ev.Kind == CreateContainer:
		return g.create(ev.Pod, ev.Container), nil
	case ev.Container != "":
		return !c.former && (c.mark == listed || c.mark == told), nil
	}
	return !pod.former && (pod.mark == listed || pod.mark == told), nil
}

// admitLate says whether a first event that the connection missed is still to
// be told, and enters it: unless Synchronize told of the object, as one that was
// created, or it has ended.
func (g *ledger) admitLate(ev Event) bool {
	pod, c := g.pods[ev.Pod], g.containers[ev.Container]
	if ev.Container != "" {
		return pod.mark != stopped && c.mark != stopped && g.create(ev.Pod, ev.Container)
	}
	if pod.mark != unknown && (pod.mark != listed || !pod.creating) {
		return false
	}
	pod.mark, pod.former = told, false
	g.pods[ev.Pod] = pod
	return true
}

// create enters a container that the connection is to be told of, unless it was.
func (g *ledger) create(pod, container string) bool {
	c, known := g.containers[container]
	switch {
	case !known:
		g.enter(pod, container, told)
		return true
	case !c.former:
		return false
	}
	g.containers[container] = containerEntry{pod: pod, mark: told} // it has not stopped, and counts already
	return true
}

// step returns the next event that the connection is owed before the end that
// goal asks for is complete, and enters it. It is called until ok is false:
// then the goal is reached, or was long ago, or the connection never knew of
// the object.
//
// So a Stop is sent before a Remove that comes without one, the containers'
// Stops before their pod's, and their Removes before its, whatever was handed
// in and in whichever order (L1).
func (g *ledger) step(goal Event) (kind Kind, container string, ok bool) {
	if goal.Container != "" {
		return g.stepContainer(goal.Container, goal.Kind.removal())
	}
	p, known := g.pods[goal.Pod]
	remove := goal.Kind.removal()
	switch {
	case !known:
		return 0, "", false
	case p.running > 0:
		return g.stepContainer(g.find(goal.Pod, true), false)
	case remove && p.containers > 0:
		return g.stepContainer(g.find(goal.Pod, false), true)
	case p.stops():
		p.mark, p.unheard = stopped, false
		g.pods[goal.Pod] = p
		return StopPodSandbox, "", true
	case remove:
		delete(g.pods, goal.Pod)
		return RemovePodSandbox, "", true
	}
	return 0, "", false
}

func (g *ledger) stepContainer(id string, remove bool) (Kind, string, bool) {
	c, known := g.containers[id]
	if !known {
		return 0, "", false
	}
	p := g.pods[c.pod]
	if c.stops() {
		c.mark, c.unheard = stopped, false
		g.containers[id] = c
		p.running--
		g.pods[c.pod] = p
		return StopContainer, id, true
	}
	if !remove {
		return 0, "", false
	}
	delete(g.containers, id)
	p.containers--
	if p.containers == 0 && p.mark == unknown {
		delete(g.pods, c.pod)
	} else {
		g.pods[c.pod] = p
	}
	return RemoveContainer, id, true
}

// find returns the container of a pod with the least id, if running is set
// among those that had no Stop. It looks at all containers, but is called
// only for a pod that ends before containers of it.
func (g *ledger) find(pod string, running bool) string {
	var least string
	for id, c := range g.containers {
		if c.pod != pod || running && !c.stops() {
			continue
		}
		if least == "" || id < least {
			least = id
		}
	}
	return least
}
