// SPDX-License-Identifier: Apache-2.0

package ledger

// Admit says whether an event that is not an end may be sent, and enters it
// if it is a first one. ErrStopped says that there must be no such event: what
// begins after its end is rejected, and never skipped as if it went on undelivered.
func (g *Ledger) Admit(ev Event) (bool, error) {
	pod := g.pods[ev.Pod]
	if ev.Kind.Begins() && (pod.mark >= over || ev.Container != "" && pod.markOf(ev.Container) >= over) {
		return false, ErrStopped
	}
	switch {
	case ev.Kind == RunPodSandbox:
		if pod.mark > listed {
			return false, nil
		}
		pod.mark, pod.former = begun, false
		g.pods[ev.Pod] = pod
		return true, nil
	case ev.Kind == CreateContainer:
		return g.create(ev.Pod, ev.Container), nil
	case ev.Container != "":
		c := pod.container(ev.Container)
		return c != nil && !c.former && c.mark.goesOn(), nil
	}
	return !pod.former && pod.mark.goesOn(), nil
}

// AdmitLate says whether a first event that the connection missed is still to
// be told, and enters it: unless Synchronize told of the object, as one that was
// created, or it has ended.
func (g *Ledger) AdmitLate(ev Event) bool {
	pod := g.pods[ev.Pod]
	if ev.Container != "" {
		return pod.mark < over && pod.markOf(ev.Container) < over && g.create(ev.Pod, ev.Container)
	}
	if pod.mark != unknown && (pod.mark != listed || !pod.creating) {
		return false
	}
	pod.mark, pod.former = begun, false
	g.pods[ev.Pod] = pod
	return true
}

// create enters a container that the connection is to be told of, unless it was.
func (g *Ledger) create(pod, container string) bool {
	p := g.pods[pod]
	c := p.container(container)
	switch {
	case c == nil:
		g.enter(pod, containerEntry{id: container, mark: begun})
		return true
	case !c.former:
		return false
	}
	c.mark, c.former = begun, false // it has not stopped, and counts already
	return true
}

// Unanswered says of a first event that it was not answered: it may come again, to the
// next connection.
func (g *Ledger) Unanswered(ev Event) {
	p := g.pods[ev.Pod]
	if ev.Container == "" {
		if p.mark == begun {
			p.mark, p.creating, p.former = listed, true, true
			g.pods[ev.Pod] = p
		}
		return
	}
	if c := p.container(ev.Container); c != nil && c.mark == begun {
		c.mark, c.former = listed, true
	}
}
