// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"time"

	"github.com/containerd/nri/pkg/log"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// RequiredMetrics may be implemented by the value passed to WithMetrics, beside Metrics,
// to see waits for required plugins and rejections. plugin is the name in the settings, or
// "annotation" for a plugin that has no settings.
type RequiredMetrics interface {
	// RecordRequiredWait is called when a pod or container has waited for a required
	// plugin that was disconnected, whether the plugin connected or not.
	RecordRequiredWait(plugin, event string, waited time.Duration)

	// RecordRequiredRejection is called when a pod or container is rejected because a
	// required plugin has not answered. reason is "disconnected", or "unanswered" if the
	// plugin was connected.
	RecordRequiredRejection(plugin, event, reason string)
}

// Awaited implements lifecycle.Observer.
func (o observer) Awaited(ev lifecycle.Event, plugin string, waited time.Duration) {
	log.Warnf(noCtx, "%s waited %s for required plugin %s", ev, waited, plugin)
	if m, ok := o.r.metrics.(RequiredMetrics); ok {
		m.RecordRequiredWait(o.r.label(plugin), ev.Kind.String(), waited)
	}
}

// Rejected implements lifecycle.Observer.
func (o observer) Rejected(u *lifecycle.Unmet) {
	log.Errorf(noCtx, "rejected %v", u)
	reason := "unanswered"
	if !u.Disconnected.IsZero() {
		reason = "disconnected"
	}
	if m, ok := o.r.metrics.(RequiredMetrics); ok {
		m.RecordRequiredRejection(o.r.label(u.Plugin), u.Event.Kind.String(), reason)
	}
}

// label is the name of a plugin in metrics. Annotations of pods may have any name.
func (r *Adaptation) label(plugin string) string {
	if _, set := r.pluginSettings[plugin]; set {
		return plugin
	}
	return "annotation"
}

// RequiredPlugin is a plugin that is set to be required.
type RequiredPlugin struct {
	Name         string    // as in the settings
	Disconnected time.Time // since when it is disconnected, zero if it is synchronized
}

// RequiredPlugins returns the plugins that are set to be required, by name.
func (r *Adaptation) RequiredPlugins() []RequiredPlugin {
	var all []RequiredPlugin
	for _, name := range r.requiredNames {
		all = append(all, RequiredPlugin{name, r.engine.DisconnectedSince(name)})
	}
	return all
}
