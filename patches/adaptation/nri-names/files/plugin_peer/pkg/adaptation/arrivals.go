// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"sync"

	"github.com/containerd/nri/pkg/log"
)

// registeringOfOne is how many connections of one crowd may be registering at a time. It
// leaves places for others, and is more than a pod has plugins.
const registeringOfOne = registering / 4

// RegistrationMetrics may be implemented by the value passed to WithMetrics, beside Metrics, to
// see connections that register.
type RegistrationMetrics interface {
	// RecordRegistering is called with the number of connections that are registering now.
	// Those beyond 64 wait for the others. It must be quick.
	RecordRegistering(connections int)
	// RecordConnectionRejected is called when a connection is closed at once, since too many
	// connections of its peer are registering.
	RecordConnectionRejected()
}

// arrivals are the connections that are registering.
type arrivals struct {
	mu     sync.Mutex // guards what follows
	all    int
	crowds map[string]crowd
}

// A crowd has the connections of one pod, user or process.
type crowd struct {
	connections int
	logged      bool // whether it was logged that some were closed
}

// letsIn reports whether a connection may register.
func (r *Adaptation) letsIn(id identity) bool {
	m, _ := r.metrics.(RegistrationMetrics)
	in, first := r.arrivals.enter(id.crowd(), m)
	if first {
		log.Warnf(noCtx, "%s has %d connections that have not registered, and more are closed", id, registeringOfOne)
	}
	if !in && m != nil {
		m.RecordConnectionRejected()
	}
	return in
}

// letsGo ends the count of a connection that has registered, or failed to.
func (r *Adaptation) letsGo(id identity) {
	m, _ := r.metrics.(RegistrationMetrics)
	r.arrivals.leave(id.crowd(), m)
}

// enter reports whether a connection may register, and whether it is the first of its crowd
// that may not.
func (a *arrivals) enter(of string, m RegistrationMetrics) (in, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.crowds == nil {
		a.crowds = make(map[string]crowd)
	}
	c := a.crowds[of]
	if c.connections >= registeringOfOne && of != unknownPeer {
		first = !c.logged
		c.logged = true
		a.crowds[of] = c
		return false, first
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

// count records the number of connections, in the order in which they come and go. The caller
// holds a.mu.
func (a *arrivals) count(more int, m RegistrationMetrics) {
	a.all += more
	if m != nil {
		m.RecordRegistering(a.all)
	}
}
