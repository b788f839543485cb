// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// LifecycleMetrics may be implemented by the value passed to WithMetrics, beside
// Metrics, to see how events reach plugins. Like Metrics it must be thread-safe. It
// must also be quick, since pods wait for some of its calls.
type LifecycleMetrics interface {
	// RecordDelivery is called when an event ended for a plugin. outcome is
	// "answered", "rejected", "timed out", "canceled" (by the caller),
	// "withdrawn" (the caller canceled before the event was sent), "lost" (the
	// plugin disconnected) or "skipped" (the plugin was overdue, or was not
	// synchronized yet). waited is the time behind other requests of the plugin,
	// took the time in the plugin. late is set for the end of a pod or container if
	// no request waited for it any more, and for its creation if the plugin had
	// missed it.
	RecordDelivery(plugin, event, outcome string, waited, took time.Duration, late bool)

	// RecordLateAnswer is called when a plugin answered an event that had timed out or
	// was canceled. took is the time since it was sent.
	RecordLateAnswer(plugin, event string, took time.Duration)

	// RecordJoin is called when a plugin was synchronized. took is the time since it
	// registered, pods and containers are how many it received.
	RecordJoin(plugin string, took time.Duration, pods, containers int)

	// RecordLeave is called when a plugin has left. reason is "closed" if the plugin
	// disconnected by itself or the runtime stops, otherwise why it was dropped:
	// "timeout", "backlog" or "error".
	RecordLeave(plugin, reason string)
}

// LifecycleTracer may be implemented by the value passed to WithMetrics, beside Metrics,
// to see each delivery with the context of its request, for example for spans. It must
// be thread-safe and quick.
type LifecycleTracer interface {
	// TraceDelivery is called when an event ended for a plugin. ctx is the context of
	// the request. It may have ended: use only its values.
	TraceDelivery(ctx context.Context, d DeliveryTrace)
}

// DeliveryTrace is one event at one plugin.
type DeliveryTrace struct {
	Plugin, Event string
	// Outcome is as for RecordDelivery, and Err is set unless it is "answered".
	Outcome string
	Err     error
	// Pod is the id of the pod, and PodUID its UID in Kubernetes, if it is known.
	Pod, PodUID string
	// Container is the id of the container, empty in events of the pod itself.
	Container string
	// Waited is the time behind other requests of the plugin, and Took the time in the
	// plugin, which has just ended. Took is zero for an event that was not sent.
	Waited, Took time.Duration
	Late         bool
}

// traceOf describes a delivery. All requests but Synchronize have the pod.
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

// lifecycleMetrics is nil unless the runtime implements them.
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
