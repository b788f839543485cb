// SPDX-License-Identifier: Apache-2.0

//go:build linux

package cniexec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// Each request is a span of its own, which is passed to the plugin.
func TestRequestIsASpan(t *testing.T) {
	made := tracetest.NewInMemoryExporter()
	ctx, parent := sdk.NewTracerProvider(sdk.WithSyncer(made)).Tracer("").Start(t.Context(), "parent")
	path, _ := plugin(t, `echo $TRACEPARENT; test $CNI_COMMAND = ADD || { echo '{"code": 50, "msg": "agent is down"}'; exit 1; }`)
	network := []byte(`{"name": "blue"}`)
	out, err := (&Exec{}).ExecPlugin(ctx, path, network, []string{"CNI_COMMAND=ADD", "CNI_CONTAINERID=web", "CNI_IFNAME=eth0"})
	require.NoError(t, err)
	_, err = (&Exec{}).ExecPlugin(ctx, path, network, []string{"CNI_COMMAND=STATUS"})
	require.Error(t, err)

	spans := made.GetSpans()
	require.Len(t, spans, 2)
	assert.Equal(t, "cni.ADD", spans[0].Name)
	assert.Equal(t, parent.SpanContext().SpanID(), spans[0].Parent.SpanID())
	assert.Contains(t, string(out), spans[0].SpanContext.SpanID().String())
	assert.ElementsMatch(t, []attribute.KeyValue{
		attribute.String("cni.plugin", "plugin"), attribute.String("cni.name", "blue"),
		attribute.String("cni.id", "web"), attribute.String("cni.ifname", "eth0"),
	}, spans[0].Attributes)
	assert.Equal(t, "cni.STATUS", spans[1].Name)
	assert.Equal(t, codes.Error, spans[1].Status.Code)
}
