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
	// "answered", "rejected", "timed out", "canceled" (the caller gave up),
	// "withdrawn" (it gave up before the event was sent), "lost" (the plugin
	// went) or "skipped" (it was overdue, or was still to be
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

// LifecycleTracer is what the value given to WithMetrics may implement beside Metrics,
// to see each delivery with the request that it is part of, as for spans. Like that, it
// must be thread-safe, and quick.
type LifecycleTracer interface {
	// TraceDelivery is called when an event ended for a plugin. ctx is that of the
	// request, for its values alone: it may have ended.
	TraceDelivery(ctx context.Context, d DeliveryTrace)
}

// DeliveryTrace is one event at one plugin.
type DeliveryTrace struct {
	Plugin, Event string
	// Outcome is as for RecordDelivery, and Err is set unless it is "answered".
	Outcome string
	Err     error
	// Pod is the id of the pod, and PodUID what Kubernetes calls it, if it is known.
	Pod, PodUID string
	// Container is the id of the container, empty in events of the pod itself.
	Container string
	// Waited is the time behind other requests of the plugin, and Took that in it,
	// which has just ended. An event that was not sent took none.
	Waited, Took time.Duration
	Late         bool
}

// traceOf describes a delivery. Requests of all events but Synchronize have the pod.
func traceOf(d lifecycle.Delivery) DeliveryTrace {
	t := DeliveryTrace{
		Plugin: d.Conn.Name(), Event: d.Event.Kind.String(), Outcome: d.Outcome.String(), Err: d.Err,
		Pod: d.Event.Pod, Container: d.Event.Container, Waited: d.Waited, Took: d.Took, Late: d.Late,
	}
	if of, is := wire(d.Event).(interface{ GetPod() *PodSandbox }); is {
		t.PodUID = of.GetPod().GetUid()
	}
	return t
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
