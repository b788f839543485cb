// SPDX-License-Identifier: Apache-2.0

// Package cnispan makes spans of CNI requests. A request has a span only if its caller has one:
// a STATUS that runs by itself begins no trace.
package cnispan

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Start starts a child of the span in ctx. end ends it, as failed if err is not nil. more
// returns attributes that are costly to make: it is called only if the trace is recorded.
func Start(ctx context.Context, name string, more func() []attribute.KeyValue) (_ context.Context, end func(err error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.SpanContext().IsValid() {
		return ctx, func(error) {}
	}
	ctx, span := parent.TracerProvider().Tracer("").Start(ctx, name)
	if span.IsRecording() {
		span.SetAttributes(more()...)
	}
	return ctx, func(err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}
