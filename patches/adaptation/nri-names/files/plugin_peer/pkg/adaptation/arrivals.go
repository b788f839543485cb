// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"sync"

	"github.com/containerd/nri/pkg/log"
)

// registeringOfOne is how many connections of one crowd may be registering at a time: few
// enough for the places to last for others, and more than a pod has plugins.
const registeringOfOne = registering / 4

// RegistrationMetrics is what the value given to WithMetrics may implement beside Metrics, to
// see who comes in.
type RegistrationMetrics interface {
	// RecordRegistering is called with how many connections are registering now. More than
	// 64 wait for others. It must be quick.
	RecordRegistering(connections int)
	// RecordConnectionRejected is called when a connection is closed at once, since too many of its
	// peer are registering.
	RecordConnectionRejected()
}

// arrivals are the connections that are registering.
type arrivals struct {
	mu     sync.Mutex // guards what follows
	all    int
	crowds map[string]crowd
}

// A crowd is what one pod, user or process has among them.
type crowd struct {
	connections int
	received    bool // whether it was logged that some were turned away
}

// letsIn says whether a connection may register.
func (r *Adaptation) letsIn(w who) bool {
	m, _ := r.metrics.(RegistrationMetrics)
	in, tell := r.arrivals.enter(w.crowd(), m)
	if tell {
		log.Warnf(noCtx, "%s has %d connections that have not registered, and more are closed", w, registeringOfOne)
	}
	if !in && m != nil {
		m.RecordConnectionRejected()
	}
	return in
}

// letsGo counts out a connection that has registered, or failed to.
func (r *Adaptation) letsGo(w who) {
	m, _ := r.metrics.(RegistrationMetrics)
	r.arrivals.leave(w.crowd(), m)
}

func (a *arrivals) enter(of string, m RegistrationMetrics) (in, tell bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.crowds == nil {
		a.crowds = make(map[string]crowd)
	}
	c := a.crowds[of]
	if c.connections >= registeringOfOne && of != unknownPeer {
		tell = !c.received
		c.received = true
		a.crowds[of] = c
		return false, tell
	}
	c.connections++
	a.crowds[of] = c
	a.count(1, m)
	return true, false
}

func (a *arrivals) leave(of string, m RegistrationMetrics) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.crowds[of]
	if c.connections--; c.connections == 0 {
		delete(a.crowds, of)
	} else {
		a.crowds[of] = c
	}
	a.count(-1, m)
}

// count records how many there are, in the order in which they come and go. a.mu is held.
func (a *arrivals) count(more int, m RegistrationMetrics) {
	a.all += more
	if m != nil {
		m.RecordRegistering(a.all)
	}
}
