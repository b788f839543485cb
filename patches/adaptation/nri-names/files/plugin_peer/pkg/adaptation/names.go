// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/containerd/nri/pkg/log"

	"github.com/containerd/nri/internal/peer"
)

// PodNamespaces returns the namespace of a pod by what the runtime itself knows of it.
// uid is that of the pod's metadata, and container the id of one of its containers,
// empty if the process is in none. It fails if there is no such pod or container.
type PodNamespaces func(uid, container string) (string, error)

// WithPodNamespaces lets the runtime tell the namespace of the pod that a plugin runs
// in. Without it, names that are reserved for namespaces are rejected to all.
func WithPodNamespaces(of PodNamespaces) Option {
	return func(r *Adaptation) error {
		r.namespaceOf = of
		return nil
	}
}

// NameMetrics is what the value given to WithMetrics may implement beside Metrics, to
// see who is rejected a name.
type NameMetrics interface {
	// RecordNameRejection is called when a plugin is rejected the name that it wanted to
	// register under. plugin is the name in the settings. reason is "user" or
	// "namespace" if it is of another one, and "unknown" if that cannot be told.
	RecordNameRejection(plugin, reason string)
}

// who is at the other end of a connection.
type who struct {
	peer *peer.Peer // nil if it cannot be told
	pod  peer.Pod
	unit string // that starts it again, see peer.Peer.Unit
	err  error  // why the peer or its pod cannot be told, nil if both can
}

// whoIs asks the kernel, when the connection was just accepted.
func whoIs(conn net.Conn) who {
	socket, is := conn.(syscall.Conn)
	if !is {
		return who{err: fmt.Errorf("%T is no socket", conn)}
	}
	p, err := peer.Of(socket)
	if err != nil {
		return who{err: err}
	}
	w := who{peer: p}
	if w.pod, w.err = p.Pod(); w.pod == (peer.Pod{}) {
		w.unit = p.Unit()
	}
	return w
}

func (w who) close() {
	if w.peer != nil {
		_ = w.peer.Close()
	}
}

// nobody is the crowd of those of whom it cannot be told whose they are. It has no bound.
const unknownPeer = ""

// crowd is whose a connection is among those that are registering. Plugins of root that run
// in no pod have a crowd for each process, other users one for all of theirs.
func (w who) crowd() string {
	switch {
	case w.pod != peer.Pod{}:
		return "pod " + w.pod.UID
	case w.peer == nil:
		return unknownPeer
	case w.peer.UID != 0:
		return fmt.Sprintf("user %d", w.peer.UID)
	}
	return fmt.Sprintf("process %d", w.peer.PID)
}

// String says who it is for logs and errors.
func (w who) String() string {
	switch {
	case w.peer == nil:
		return "a process that is not known"
	case w.pod == peer.Pod{}:
		return w.peer.String()
	}
	return fmt.Sprintf("%s in pod %s", w.peer, w.pod.UID)
}

// errNameReserved says why a plugin is rejected its name.
type errNameReserved struct {
	name    string // in the settings
	who     who
	reason  string // for the metric
	because error
}

func (e *errNameReserved) Error() string {
	return fmt.Sprintf("plugin name %s is reserved, and not for %s: %v", e.name, e.who, e.because)
}

func (e *errNameReserved) Unwrap() error { return e.because }

// admit rejects the name of a plugin to those who must not take it. Settings with its
// index and without it hold both: those for one must not open what the others keep.
func (r *Adaptation) admit(index, base string, w who) error {
	for _, name := range slices.Sorted(maps.Keys(r.pluginSettings)) {
		if name != base && name != index+"-"+base {
			continue
		}
		reason, err := r.pluginSettings[name].admit(w, r.namespaceOf)
		if err == nil {
			continue
		}
		if m, ok := r.metrics.(NameMetrics); ok {
			m.RecordNameRejection(name, reason)
		}
		return &errNameReserved{name, w, reason, err}
	}
	return nil
}

// reserved tells whether not everybody may register.
func (s PluginSettings) reserved() bool {
	return len(s.AllowedUsers)+len(s.AllowedNamespaces) > 0
}

// admit returns why somebody must not register, and that in a word.
func (s PluginSettings) admit(w who, namespaceOf PodNamespaces) (reason string, err error) {
	if !s.reserved() {
		return "", nil
	}
	if w.peer == nil {
		return "unknown", w.err
	}
	if len(s.AllowedUsers) > 0 && !slices.Contains(s.AllowedUsers, w.peer.UID) {
		return "user", fmt.Errorf("user %d is none of %v", w.peer.UID, s.AllowedUsers)
	}
	if len(s.AllowedNamespaces) == 0 {
		return "", nil
	}
	if w.err != nil {
		return "unknown", w.err
	}
	if w.pod == (peer.Pod{}) {
		return "namespace", fmt.Errorf("it runs in no pod, and has to be in one of the namespaces %v", s.AllowedNamespaces)
	}
	if namespaceOf == nil {
		return "unknown", errors.New("the runtime knows no pods")
	}
	namespace, err := namespaceOf(w.pod.UID, w.pod.Container)
	if err != nil {
		return "unknown", fmt.Errorf("namespace of its pod: %w", err)
	}
	if !slices.Contains(s.AllowedNamespaces, namespace) {
		return "namespace", fmt.Errorf("namespace %s is none of %v", cmp.Or(namespace, `""`), s.AllowedNamespaces)
	}
	return "", nil
}

// rejectionRead is how long a peer has to read why it was rejected.
const rejectionRead = time.Second

// hearsRejection leaves a plugin that was rejected in RegisterPlugin connected until it has
// read why, which ends its connection.
func (p *plugin) hearsRejection(err error) {
	var reserved *errNameReserved
	var invalid *errRegistration
	if !errors.As(err, &reserved) && !errors.As(err, &invalid) {
		return
	}
	t := time.NewTimer(rejectionRead)
	defer t.Stop()
	select {
	case <-p.closeC:
	case <-t.C:
		log.Warnf(noCtx, "%s was rejected, stays connected, and is disconnected", p.who)
	}
}
