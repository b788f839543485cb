// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// LifecycleMetrics is what the value given to WithMetrics may implement beside
// Metrics, to see how events reach plugins. Like that, it must be thread-safe,
// and quick: some of its calls are on the way of pods.
type LifecycleMetrics interface {
	// RecordDelivery is called when an event ended for a plugin. outcome is
	// "answered", "refused", "timed out", "canceled" (the caller gave up),
	// "withdrawn" (it gave up before the event was sent), "lost" (the plugin
	// went) or "passed over" (it owed another answer, or was still to be
	// synchronized). waited is the time behind other requests of the plugin, took that
	// in the plugin. late is set for the end of a pod or container that nobody
	// waited for any more, and for its beginning if the plugin had missed it.
	RecordDelivery(plugin, event, outcome string, waited, took time.Duration, late bool)

	// RecordLateAnswer is called when a plugin answered an event that had ended
	// without it, timed out or canceled, with the time since it was sent.
	RecordLateAnswer(plugin, event string, took time.Duration)

	// RecordJoin is called when a plugin was synchronized, with how long it
	// took since it registered and of how much it was told.
	RecordJoin(plugin string, took time.Duration, pods, containers int)

	// RecordLeave is called when a plugin is gone. reason is "closed" if it
	// went by itself or the runtime stops, otherwise why it was dropped:
	// "timeout", "backlog" or "error".
	RecordLeave(plugin, reason string)
}

// lifecycleMetrics is nil unless they are wanted.
func (r *Adaptation) lifecycleMetrics() LifecycleMetrics {
	m, _ := r.metrics.(LifecycleMetrics)
	return m
}

func leaveReason(err error) string {
	switch {
	case errors.Is(err, lifecycle.ErrBacklog):
		return "backlog"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, lifecycle.ErrClosed):
		return "closed"
	}
	return "error"
}
