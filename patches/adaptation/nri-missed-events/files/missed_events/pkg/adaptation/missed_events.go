// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/containerd/nri/pkg/log"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// MissedEvents keeps what plugins have to be told that are disconnected, beyond a restart of the
// runtime: by the index and name of a plugin, as "10-logger". None of its methods
// but Sync may block, and none may call the adaptation. An object is the ids of a pod
// and of a container, the latter empty for the pod itself; a request is bytes that are
// kept as they are.
type MissedEvents = lifecycle.MissedEvents

// WithMissedEvents has plugins that come back told what ended while they were disconnected, as
// kept in store. exited returns the containers that have exited and that the runtime
// does not list for plugins that synchronize, of which the ids are enough; it may be nil
// if there are none. The store has to outlive the adaptation.
func WithMissedEvents(store MissedEvents, exited func() []*Container) Option {
	return func(r *Adaptation) error {
		if store == nil {
			return errors.New("no store to keep missed events in")
		}
		r.missed, r.exited = store, exited
		return nil
	}
}

// MissedEventsMetrics is what the value given to WithMetrics may implement beside Metrics, to
// see what becomes of missed events. Like that, it must be thread-safe, and quick.
type MissedEventsMetrics interface {
	// RecordMissedEvent is called when a plugin was told an end that it was owed. outcome is
	// as for RecordDelivery.
	RecordMissedEvent(plugin, event, outcome string)
}

// An DisconnectedPlugin is a name of which no plugin is there now.
type DisconnectedPlugin struct {
	Name         string    // index and name, as "10-logger"
	Disconnected time.Time // since when, or since the start of the runtime if it went before
	Missed       int       // ends that it has not heard
}

// DisconnectedPlugins returns the names that are disconnected and that ends are kept for, in order.
func (r *Adaptation) DisconnectedPlugins() []DisconnectedPlugin {
	if r.missed == nil {
		return nil
	}
	var all []DisconnectedPlugin
	for name, p := range r.missed.Names() {
		if !p.Disconnected.IsZero() {
			all = append(all, DisconnectedPlugin{name, p.Disconnected, p.Missed})
		}
	}
	slices.SortFunc(all, func(a, b DisconnectedPlugin) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// ForgetPlugin drops what is kept for a name that is disconnected and not coming back. It
// returns how many ends it was owed, and false if no such name is disconnected.
func (r *Adaptation) ForgetPlugin(name string) (missed int, ok bool) {
	if r.missed == nil {
		return 0, false
	}
	missed, ok = r.engine.Forget(name)
	if ok {
		r.missed.Sync()
		log.Infof(noCtx, "plugin %q is forgotten, and %d ends that it was owed", name, missed)
	}
	return missed, ok
}

// recall brings back what names of plugins knew and were owed when the runtime ended,
// before any plugin is let in.
func (r *Adaptation) recall() {
	if r.missed == nil {
		return
	}
	// The runtime's list may wait for a lock that Start is called with.
	ctx, cancel := context.WithTimeout(noCtx, getListTimeout())
	defer cancel()
	if err := r.engine.Recall(ctx); err != nil {
		log.Errorf(noCtx, "some ends may not be told to plugins that come back: %v", err)
	}
}

// listAll is list, with the containers that have exited.
func (r *Adaptation) listAll(ctx context.Context) (lifecycle.Snapshot, error) {
	snapshot, err := r.list(ctx)
	if err != nil || r.exited == nil {
		return snapshot, err
	}
	for _, ctr := range r.exited() {
		snapshot.Exited = append(snapshot.Exited, lifecycle.Object{Pod: ctr.GetPodSandboxId(), Container: ctr.GetId()})
	}
	return snapshot, nil
}

// deliveredMissed says and records that a plugin was told an end that it was owed.
func (r *Adaptation) deliveredMissed(d lifecycle.Delivery) {
	if d.Err != nil {
		log.Warnf(noCtx, "plugin %q: %s, which it was owed: %s: %v", d.Conn.Name(), d.Event, d.Outcome, d.Err)
	} else {
		log.Debugf(noCtx, "plugin %q: %s, which it was owed: %s", d.Conn.Name(), d.Event, d.Outcome)
	}
	if m, ok := r.metrics.(MissedEventsMetrics); ok {
		m.RecordMissedEvent(d.Conn.Name(), d.Event.Kind.String(), d.Outcome.String())
	}
}
