// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"errors"
	"testing"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// The time behind other requests and the time in the plugin have separate spans.
func TestL17_DeliveryIsSpans(t *testing.T) {
	for name, tc := range map[string]struct {
		delivery nri.DeliveryTrace
		spans    map[string]time.Duration
		failed   string // the span that has the failure
	}{
		"answered at once":  {nri.DeliveryTrace{Outcome: "answered", Took: time.Second}, map[string]time.Duration{"nri.plugin": time.Second}, ""},
		"waited":            {nri.DeliveryTrace{Outcome: "answered", Waited: 2 * time.Second, Took: time.Second}, map[string]time.Duration{"nri.wait": 2 * time.Second, "nri.plugin": time.Second}, ""},
		"waited and failed": {nri.DeliveryTrace{Outcome: "timed out", Err: errors.New("no answer"), Waited: 2 * time.Second, Took: time.Second}, map[string]time.Duration{"nri.wait": 2 * time.Second, "nri.plugin": time.Second}, "nri.plugin"},
		"withdrawn":         {nri.DeliveryTrace{Outcome: "withdrawn", Err: errors.New("no answer"), Waited: 2 * time.Second}, map[string]time.Duration{"nri.wait": 2 * time.Second}, "nri.wait"},
		"skipped":           {nri.DeliveryTrace{Outcome: "skipped", Err: errors.New("no answer")}, map[string]time.Duration{"nri.wait": 0}, "nri.wait"},
	} {
		t.Run(name, func(t *testing.T) {
			made := tracetest.NewInMemoryExporter()
			ctx, request := sdk.NewTracerProvider(sdk.WithSyncer(made)).Tracer("").Start(t.Context(), "request")
			request.End() // as before a late delivery
			made.Reset()
			d := tc.delivery
			d.Plugin, d.Event, d.Pod, d.PodUID = "10-slow", "RunPodSandbox", "id", "uid"
			before := time.Now()
			new(nriMetrics).TraceDelivery(ctx, d)

			took := map[string]time.Duration{}
			for _, span := range made.GetSpans() {
				took[span.Name] = span.EndTime.Sub(span.StartTime)
				assert.Equal(t, request.SpanContext().SpanID(), span.Parent.SpanID())
				for _, of := range []attribute.KeyValue{attribute.String("nri.plugin", "10-slow"), attribute.String("nri.event", "RunPodSandbox"),
					attribute.String("pod.uid", "uid"), attribute.String("sandbox.id", "id")} {
					assert.Contains(t, span.Attributes, of)
				}
				assert.Equal(t, tc.failed == span.Name, span.Status.Code == codes.Error, span.Name)
				if span.Name == "nri.plugin" {
					assert.WithinRange(t, span.EndTime, before, time.Now())
				}
			}
			assert.Equal(t, tc.spans, took)
		})
	}
}

func TestNoTraceNoSpan(t *testing.T) {
	made := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(made), sdk.WithSampler(sdk.NeverSample()))
	ctx, request := provider.Tracer("").Start(t.Context(), "request")
	new(nriMetrics).TraceDelivery(ctx, nri.DeliveryTrace{Took: time.Second})
	new(nriMetrics).TraceDelivery(t.Context(), nri.DeliveryTrace{Took: time.Second})
	request.End()
	require.Empty(t, made.GetSpans())
}
