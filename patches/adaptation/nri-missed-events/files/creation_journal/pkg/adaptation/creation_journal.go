// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"errors"
	"iter"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// A CreationJournal records which plugins received a pod or container before the runtime
// had a record of it, and survives a kill of the runtime. Its methods must be quick, and
// may be called from any goroutine.
type CreationJournal interface {
	// Sending notes that a plugin is about to receive a pod or container that is being
	// created. plugin is its index and name, as "10-logger". container is empty for a pod.
	Sending(plugin, pod, container string)

	// Cut returns what was noted when the runtime was killed: plugins, each with the ids of
	// a pod and of a container. It may include objects that have a record by now.
	Cut() iter.Seq2[string, [2]string]
}

// WithCreationJournal delivers to plugins that reconnect the ends of the pods and containers
// that the runtime was killed in creating. It needs WithMissedEvents.
func WithCreationJournal(journal CreationJournal) Option {
	return func(r *Adaptation) error {
		if journal == nil {
			return errors.New("no journal to note creations in")
		}
		r.journal = journal
		return nil
	}
}

// cut lists the objects whose creation a kill interrupted, for the engine.
func (r *Adaptation) cut() iter.Seq2[string, lifecycle.Object] {
	return func(yield func(string, lifecycle.Object) bool) {
		if r.journal == nil {
			return
		}
		for plugin, ids := range r.journal.Cut() {
			if !yield(plugin, lifecycle.Object{Pod: ids[0], Container: ids[1]}) {
				return
			}
		}
	}
}

// noteAsked notes that a plugin is about to be asked for a container. When it is asked for a
// pod, the runtime has a record of the pod already.
func (r *Adaptation) noteAsked(p *plugin, ev lifecycle.Event) {
	if r.journal != nil && ev.Kind == lifecycle.CreateContainer {
		r.journal.Sending(p.name(), ev.Pod, ev.Container)
	}
}

// noteListed notes that a plugin is about to receive in Synchronize pods that are being created.
func (r *Adaptation) noteListed(p *plugin, snapshot lifecycle.Snapshot) {
	if r.journal == nil {
		return
	}
	for _, pod := range snapshot.Pods {
		if pod.Creating {
			r.journal.Sending(p.name(), pod.Pod, "")
		}
	}
}
