// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/log"

	"github.com/containerd/nri/internal/peer"
)

// PodNamespaces returns the namespace of a pod from the runtime's own records. uid is the
// pod's UID, and container the id of one of its containers, empty if the process is in no
// container. It fails if no such pod or container exists.
type PodNamespaces func(uid, container string) (string, error)

// WithPodNamespaces lets the runtime find the namespace of the pod that a plugin runs in.
// Without it, no plugin gets a name that is reserved for namespaces.
func WithPodNamespaces(of PodNamespaces) Option {
	return func(r *Adaptation) error {
		r.namespaceOf = of
		return nil
	}
}

// WithoutIdentityByNumber gives no reserved name to a peer that the kernel names by the number of
// its process alone, as kernels before 6.5 do. By default such a peer counts as identified.
func WithoutIdentityByNumber() Option {
	return func(r *Adaptation) error {
		r.noNumbers = true
		return nil
	}
}

// errByNumber is why a peer that is identified by number gets no reserved name.
var errByNumber = errors.New("this kernel names its process by number alone, which is not accepted here")

// NameMetrics may be implemented by the value passed to WithMetrics, beside Metrics, to see
// rejections of names.
type NameMetrics interface {
	// RecordNameRejection is called when a plugin must not register under its name. plugin
	// is the name in the settings. reason is "user" or "namespace" if the plugin is of
	// another one, "unknown" if they cannot be determined, and "name" if its name alone is
	// the index and name of the plugin in the settings.
	RecordNameRejection(plugin, reason string)
}

// identity is that of the peer of a connection.
type identity struct {
	peer *peer.Peer // nil if it is unknown
	pod  peer.Pod
	unit string // that starts it again, see peer.Peer.Unit
	err  error  // why the peer or its pod is unknown, nil if neither is
}

// identify asks the kernel for the peer of a connection that was just accepted.
func identify(conn net.Conn) identity {
	socket, is := conn.(syscall.Conn)
	if !is {
		return identity{err: fmt.Errorf("%T is no socket", conn)}
	}
	p, err := peer.Of(socket)
	if err != nil {
		return identity{err: err}
	}
	id := identity{peer: p}
	if id.pod, id.err = p.Pod(); id.pod == (peer.Pod{}) {
		id.unit = p.Unit()
	}
	return id
}

func (id identity) close() {
	if id.peer != nil {
		_ = id.peer.Close()
	}
}

// unknownPeer is the crowd of connections whose peer is unknown. It has no bound.
const unknownPeer = ""

// crowd names the crowd of a connection that is registering. Plugins of root that run in no
// pod have a crowd for each process, other users one for all their processes.
func (id identity) crowd() string {
	switch {
	case id.pod != peer.Pod{}:
		return "pod " + id.pod.UID
	case id.peer == nil:
		return unknownPeer
	case id.peer.UID != 0:
		return fmt.Sprintf("user %d", id.peer.UID)
	}
	return fmt.Sprintf("process %d", id.peer.PID)
}

// String describes the peer for logs and errors.
func (id identity) String() string {
	switch {
	case id.peer == nil:
		return "an unknown process"
	case id.pod == peer.Pod{}:
		return id.peer.String()
	}
	return fmt.Sprintf("%s in pod %s", id.peer, id.pod.UID)
}

// errNameReserved is the reason why a plugin must not register under its name.
type errNameReserved struct {
	name    string // in the settings
	id      identity
	reason  string // for the metric
	because error
}

func (e *errNameReserved) Error() string {
	return fmt.Sprintf("plugin name %s is reserved, and %s may not use it: %v", e.name, e.id, e.because)
}

func (e *errNameReserved) Unwrap() error { return e.because }

// admit rejects a plugin that must not register under its name. Settings with the index and
// without it both hold: neither opens a name that the other one reserves.
func (r *Adaptation) admit(index, base string, id identity) error {
	if r.noNumbers && id.peer != nil && id.peer.ByNumber {
		id = identity{err: errByNumber}
	}
	if _, of := r.pluginSettings[base]; of && hasIndex(base) {
		return r.reserved(base, id, "name", errors.New("it is the index and name of another plugin"))
	}
	for _, name := range slices.Sorted(maps.Keys(r.pluginSettings)) {
		if name != base && name != index+"-"+base {
			continue
		}
		reason, err := r.pluginSettings[name].admit(id, r.namespaceOf)
		if err == nil {
			continue
		}
		return r.reserved(name, id, reason, err)
	}
	return nil
}

// hasIndex reports whether a name begins like one with an index, as "10-logger". A plugin may
// have such a name and another index in front of it.
func hasIndex(name string) bool {
	index, _, found := strings.Cut(name, "-")
	return found && api.CheckPluginIndex(index) == nil
}

// reserved counts a rejection, and returns it as an error.
func (r *Adaptation) reserved(name string, id identity, reason string, because error) error {
	if m, ok := r.metrics.(NameMetrics); ok {
		m.RecordNameRejection(name, reason)
	}
	return &errNameReserved{name, id, reason, because}
}

// reserved reports whether only some plugins may register under the name.
func (s PluginSettings) reserved() bool {
	return len(s.AllowedUsers)+len(s.AllowedNamespaces) > 0
}

// admit returns why a peer must not register, as an error and as the metric's reason.
func (s PluginSettings) admit(id identity, namespaceOf PodNamespaces) (reason string, err error) {
	if !s.reserved() {
		return "", nil
	}
	if id.peer == nil {
		return "unknown", id.err
	}
	if len(s.AllowedUsers) > 0 && !slices.Contains(s.AllowedUsers, id.peer.UID) {
		return "user", fmt.Errorf("user %d is none of %v", id.peer.UID, s.AllowedUsers)
	}
	if len(s.AllowedNamespaces) == 0 {
		return "", nil
	}
	if id.err != nil {
		return "unknown", id.err
	}
	if id.pod == (peer.Pod{}) {
		return "namespace", fmt.Errorf("it runs in no pod, and must run in one of the namespaces %v", s.AllowedNamespaces)
	}
	if namespaceOf == nil {
		return "unknown", errors.New("the runtime does not know the namespaces of pods")
	}
	namespace, err := namespaceOf(id.pod.UID, id.pod.Container)
	if err != nil {
		return "unknown", fmt.Errorf("namespace of its pod: %w", err)
	}
	if !slices.Contains(s.AllowedNamespaces, namespace) {
		return "namespace", fmt.Errorf("namespace %s is none of %v", cmp.Or(namespace, `""`), s.AllowedNamespaces)
	}
	return "", nil
}

// rejectionRead is how long a peer may take to read why it was rejected.
const rejectionRead = time.Second

// hearsRejection keeps the connection of a plugin that RegisterPlugin rejected until the
// plugin has read the reason and disconnects.
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
		log.Warnf(noCtx, "%s was rejected and did not disconnect, closing its connection", p.identity)
	}
}
