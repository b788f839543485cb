// SPDX-License-Identifier: Apache-2.0

package cnispan

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestSpanIsAChild(t *testing.T) {
	made := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(made))
	ctx, parent := provider.Tracer("").Start(t.Context(), "parent")
	attributes := func() []attribute.KeyValue { return []attribute.KeyValue{attribute.String("cni.id", "web")} }

	_, end := Start(ctx, "cni.Setup", attributes)
	end(nil)
	_, end = Start(ctx, "cni.Remove", attributes)
	end(errors.New("out of luck"))

	spans := made.GetSpans()
	require.Len(t, spans, 2)
	for _, s := range spans {
		assert.Equal(t, parent.SpanContext().SpanID(), s.Parent.SpanID())
		assert.Equal(t, attributes(), s.Attributes)
	}
	assert.Equal(t, "cni.Setup", spans[0].Name)
	assert.Equal(t, codes.Unset, spans[0].Status.Code)
	assert.Equal(t, "cni.Remove", spans[1].Name)
	assert.Equal(t, trace.Status{Code: codes.Error, Description: "out of luck"}, spans[1].Status)
}

// No attribute is computed if the trace is not recorded.
func TestNoTraceNoSpan(t *testing.T) {
	never := func() []attribute.KeyValue { panic("the trace is not recorded") }
	ctx, end := Start(t.Context(), "cni.Setup", never)
	assert.Equal(t, t.Context(), ctx)
	end(errors.New("out of luck"))

	provider := trace.NewTracerProvider(trace.WithSampler(trace.NeverSample()))
	parent, span := provider.Tracer("").Start(context.Background(), "parent")
	defer span.End()
	_, end = Start(parent, "cni.Setup", never)
	end(nil)
}
