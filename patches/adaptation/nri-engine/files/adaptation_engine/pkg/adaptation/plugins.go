// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"
	"slices"
	"time"

	"github.com/containerd/nri/pkg/log"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// enlist adds a plugin that is about to join to the list of plugins.
func (r *Adaptation) enlist(p *plugin) {
	r.Lock()
	defer r.Unlock()
	r.plugins = append(slices.Clone(r.plugins), p)
	slices.SortStableFunc(r.plugins, func(a, b *plugin) int { return cmp.Compare(a.idx, b.idx) })
}

// dismiss removes a plugin that has left from the list, and stops it if the runtime launched it. It
// may be called twice at the same time, and returns when the process has ended.
func (r *Adaptation) dismiss(p *plugin) {
	r.delist(p)
	p.stopped.Do(func() { _ = p.stop() })
}

func (r *Adaptation) delist(p *plugin) {
	r.Lock()
	defer r.Unlock()
	r.plugins = slices.DeleteFunc(slices.Clone(r.plugins), func(o *plugin) bool { return o == p })
	r.metrics.UpdatePluginCount(len(r.plugins))
}

// connected returns the plugins, in the order of their indices.
func (r *Adaptation) connected() []*plugin {
	r.Lock()
	defer r.Unlock()
	return r.plugins
}

func (r *Adaptation) hasValidators() bool {
	return slices.ContainsFunc(r.connected(), (*plugin).isContainerAdjustmentValidator)
}

func (r *Adaptation) logPlugins() {
	log.Infof(noCtx, "plugin invocation order")
	for i, p := range r.connected() {
		role := ""
		if p.isContainerAdjustmentValidator() {
			role = ", validator"
		}
		log.Infof(noCtx, "  #%d: %q (%s%s)", i+1, p.name(), p.qualifiedName(), role)
	}
}

// observer logs and counts what the engine reports of plugins and events.
type observer struct {
	r *Adaptation
}

var _ lifecycle.Observer = observer{}

// Delivered implements lifecycle.Observer. Events that were sent are recorded where they are sent.
func (o observer) Delivered(d lifecycle.Delivery) {
	late := d.Late && d.Event.Request != nil // an event without content says what holds, and is not due at any time
	if late {
		log.Warnf(noCtx, "plugin %q: %s came late, %s after it was due: %s", d.Conn.Name(), d.Event, d.Waited+d.Took, d.Outcome)
	} else if d.Err != nil {
		log.Warnf(noCtx, "plugin %q: %s: %s: %v", d.Conn.Name(), d.Event, d.Outcome, d.Err)
	}
}

// Recovered implements lifecycle.Observer.
func (o observer) Recovered(conn lifecycle.Connection, ev lifecycle.Event, took time.Duration) {
	log.Warnf(noCtx, "plugin %q: %s was answered %s after it was sent, when its request had ended", conn.Name(), ev, took)
}

// Joined implements lifecycle.Observer.
func (o observer) Joined(conn lifecycle.Connection, took time.Duration, pods, containers int) {
	o.r.metrics.UpdatePluginCount(len(o.r.connected()))
}

// Left implements lifecycle.Observer.
func (o observer) Left(conn lifecycle.Connection, reason error) {
	p := conn.(connection).plugin
	log.Infof(noCtx, "plugin %q left: %v", p.name(), reason)
	o.r.dismiss(p)
}
