// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"errors"
	"iter"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// A CreationJournal keeps, beyond a kill of the runtime, which plugins were told of a pod
// or container before the runtime had a record of it. Its methods must be quick, and
// may be called from any goroutine.
type CreationJournal interface {
	// Sending notes that a plugin is about to be sent a pod or container that is being
	// created: by its index and name, as "10-logger". container is empty for a pod.
	Sending(plugin, pod, container string)

	// Cut returns what was noted when the runtime was killed: plugins, with the ids of a
	// pod and of a container. What has a record by now may be among it.
	Cut() iter.Seq2[string, [2]string]
}

// WithCreationJournal has plugins that come back told the end of what the runtime was
// killed in creating. It needs WithMissedEvents.
func WithCreationJournal(journal CreationJournal) Option {
	return func(r *Adaptation) error {
		if journal == nil {
			return errors.New("no journal to note creations in")
		}
		r.journal = journal
		return nil
	}
}

// cut lists what was cut in its creation, for the engine.
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

// noteAsked notes that a plugin is about to be asked of a container. Of a pod the runtime
// has a record then.
func (r *Adaptation) noteAsked(p *plugin, ev lifecycle.Event) {
	if r.journal != nil && ev.Kind == lifecycle.CreateContainer {
		r.journal.Sending(p.name(), ev.Pod, ev.Container)
	}
}

// noteListed notes that a plugin is about to be told in Synchronize of pods that are being created.
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
