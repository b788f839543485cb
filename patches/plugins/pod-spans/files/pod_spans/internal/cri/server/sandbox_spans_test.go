// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/containerd/containerd/v2/core/sandbox"
)

// unavailableService fails all calls that create and end sandboxes.
type unavailableService struct{ sandboxService }

func (unavailableService) CreateSandbox(context.Context, sandbox.Sandbox, ...sandbox.CreateOpt) error {
	return errdefs.ErrUnavailable
}

func (unavailableService) StartSandbox(context.Context, string, string) (sandbox.ControllerInstance, error) {
	return sandbox.ControllerInstance{Pid: 7}, nil
}

func (unavailableService) StopSandbox(context.Context, string, string, ...sandbox.StopOpt) error {
	return errdefs.ErrUnavailable
}

func (unavailableService) ShutdownSandbox(context.Context, string, string) error {
	return errdefs.ErrUnavailable
}

func TestCallsOfTheControllerAreSpans(t *testing.T) {
	made := tracetest.NewInMemoryExporter()
	ctx, run := trace.NewTracerProvider(trace.WithSyncer(made)).Tracer("").Start(t.Context(), "cri.sandbox.run")
	s := tracedSandboxService{unavailableService{}}

	assert.ErrorIs(t, s.CreateSandbox(ctx, sandbox.Sandbox{ID: "id"}), errdefs.ErrUnavailable)
	started, err := s.StartSandbox(ctx, "", "id")
	require.NoError(t, err)
	assert.EqualValues(t, 7, started.Pid)
	assert.ErrorIs(t, s.StopSandbox(ctx, "", "id"), errdefs.ErrUnavailable)
	assert.ErrorIs(t, s.ShutdownSandbox(ctx, "", "id"), errdefs.ErrUnavailable)

	var names []string
	for _, span := range made.GetSpans() {
		names = append(names, span.Name)
		assert.Equal(t, run.SpanContext().SpanID(), span.Parent.SpanID(), span.Name)
		assert.Equal(t, span.Name != "cri.sandbox.start", span.Status.Code == codes.Error, span.Name)
	}
	assert.Equal(t, []string{"cri.sandbox.create", "cri.sandbox.start", "cri.sandbox.stop", "cri.sandbox.shutdown"}, names)
}
