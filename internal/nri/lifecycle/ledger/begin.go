// SPDX-License-Identifier: Apache-2.0

package ledger

// Admit reports whether an event that is not an end may be sent, and records it if it is a
// first event. It returns ErrStopped for a creation or start after the end of its pod or
// container: the caller must reject that request, and must not go on without the plugin.
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

// AdmitLate reports whether a first event that the connection missed must still be
// delivered, and records it. That is not so if the object has ended, or if Synchronize
// listed it as created. Another event is delivered as long as its object has not ended.
func (g *Ledger) AdmitLate(ev Event) bool {
	if !ev.Kind.First() {
		admitted, _ := g.Admit(ev) // no error: it begins nothing
		return admitted
	}
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

// create records a container as created, and reports whether the connection must still
// receive its CreateContainer.
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
	c.mark, c.former = begun, false // it has not stopped, and is in running already
	return true
}

// Unanswered records that a first event was not answered, so that the next connection may
// receive it.
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
