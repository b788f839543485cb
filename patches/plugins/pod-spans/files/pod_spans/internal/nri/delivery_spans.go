// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	nri "github.com/containerd/nri/pkg/adaptation"
)

var _ nri.LifecycleTracer = (*nriMetrics)(nil)

// TraceDelivery implements nri.LifecycleTracer. It adds up to two spans, which begin in the
// past, as children of the request's span: nri.wait is the time behind earlier requests of
// the plugin, nri.plugin is the time in the plugin. An event that was not sent has only
// nri.wait.
func (m *nriMetrics) TraceDelivery(ctx context.Context, d nri.DeliveryTrace) {
	parent := trace.SpanFromContext(ctx)
	if !parent.SpanContext().IsSampled() {
		return
	}
	tracer := parent.TracerProvider().Tracer("")
	attributes := trace.WithAttributes(deliveryAttributes(d)...)
	end := time.Now()
	sent := end.Add(-d.Took)
	if d.Waited > 0 || d.Took == 0 {
		_, span := tracer.Start(ctx, "nri.wait", trace.WithTimestamp(sent.Add(-d.Waited)), attributes)
		if d.Took == 0 {
			setOutcome(span, d)
		}
		span.End(trace.WithTimestamp(sent))
	}
	if d.Took > 0 {
		_, span := tracer.Start(ctx, "nri.plugin", trace.WithTimestamp(sent), attributes)
		setOutcome(span, d)
		span.End(trace.WithTimestamp(end))
	}
}

func deliveryAttributes(d nri.DeliveryTrace) []attribute.KeyValue {
	all := []attribute.KeyValue{
		attribute.String("nri.plugin", d.Plugin),
		attribute.String("nri.event", d.Event),
		attribute.String("nri.outcome", strings.ReplaceAll(d.Outcome, " ", "_")),
		attribute.String("pod.uid", d.PodUID),
		attribute.String("sandbox.id", d.Pod),
	}
	if d.Container != "" {
		all = append(all, attribute.String("container.id", d.Container))
	}
	if d.Late {
		all = append(all, attribute.Bool("nri.late", true))
	}
	return all
}

func setOutcome(span trace.Span, d nri.DeliveryTrace) {
	if d.Err != nil {
		span.RecordError(d.Err)
		span.SetStatus(codes.Error, d.Err.Error())
	}
}
