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

// MissedEvents keeps the events that plugins miss while they are disconnected, also over a
// restart of the runtime. Its key is the index and name of a plugin, as "10-logger". None
// of its methods but Sync may block, and none may call the adaptation. An object is the
// ids of a pod and of a container; the latter is empty for the pod itself. A request is
// bytes that are kept as they are.
type MissedEvents = lifecycle.MissedEvents

// WithMissedEvents delivers to plugins that reconnect the ends that they missed, as kept
// in store. exited returns the containers that have exited and that the runtime does not
// list for plugins that synchronize. Their ids are enough. exited may be nil if there are
// none. The store must outlive the adaptation.
func WithMissedEvents(store MissedEvents, exited func() []*Container) Option {
	return func(r *Adaptation) error {
		if store == nil {
			return errors.New("no store to keep missed events in")
		}
		r.missed, r.exited = store, exited
		return nil
	}
}

// MissedEventsMetrics may be implemented by the value passed to WithMetrics, beside Metrics,
// to see how missed events are delivered. It must be thread-safe and quick.
type MissedEventsMetrics interface {
	// RecordMissedEvent is called when a missed event was sent to its plugin. outcome is
	// as for RecordDelivery.
	RecordMissedEvent(plugin, event, outcome string)
}

// A DisconnectedPlugin is the name of a plugin that is not connected now.
type DisconnectedPlugin struct {
	Name         string    // index and name, as "10-logger"
	Disconnected time.Time // since when, or the start of the runtime if it left before that
	Missed       int       // ends that it missed
}

// DisconnectedPlugins returns the disconnected plugins that events are kept for, in order.
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

// ForgetPlugin drops all that is kept for a disconnected plugin that will not reconnect. It
// returns how many missed events were dropped, and false if no such plugin is disconnected.
func (r *Adaptation) ForgetPlugin(name string) (missed int, ok bool) {
	if r.missed == nil {
		return 0, false
	}
	missed, ok = r.engine.Forget(name)
	if ok {
		r.missed.Sync()
		log.Infof(noCtx, "plugin %q is forgotten, with %d missed events", name, missed)
	}
	return missed, ok
}

// recall restores, before any plugin connects, which objects plugins knew when the runtime
// ended, and their missed events.
func (r *Adaptation) recall() {
	if r.missed == nil {
		return
	}
	// The runtime's list may wait for a lock that Start is called with.
	ctx, cancel := context.WithTimeout(noCtx, getListTimeout())
	defer cancel()
	if err := r.engine.Recall(ctx); err != nil {
		log.Errorf(noCtx, "plugins that reconnect may not receive some of their missed events: %v", err)
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

// deliveredMissed logs and records the delivery of a missed event.
func (r *Adaptation) deliveredMissed(d lifecycle.Delivery) {
	if d.Err != nil {
		log.Warnf(noCtx, "plugin %q: missed event: %s: %s: %v", d.Conn.Name(), d.Event, d.Outcome, d.Err)
	} else {
		log.Debugf(noCtx, "plugin %q: missed event: %s: %s", d.Conn.Name(), d.Event, d.Outcome)
	}
	if m, ok := r.metrics.(MissedEventsMetrics); ok {
		m.RecordMissedEvent(d.Conn.Name(), d.Event.Kind.String(), d.Outcome.String())
	}
}
