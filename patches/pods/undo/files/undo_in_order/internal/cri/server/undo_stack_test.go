// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/containerd/containerd/v2/pkg/namespaces"
)

// undone notes the steps that run.
type undone []string

func (u *undone) step(name string, err error) (string, func(context.Context) error) {
	return name, func(context.Context) error {
		*u = append(*u, name)
		return err
	}
}

// The last step runs first, after the step that is set to run before all.
func TestUndoGoesBackwards(t *testing.T) {
	var u undone
	var s undoStack
	s.push(u.step("release_name", nil))
	s.beginWith(u.step("tell_plugins", nil))
	s.push(u.step("delete_record", nil))
	s.push(u.step("delete_lease", nil))
	require.NoError(t, s.run(t.Context(), nil))
	require.Equal(t, undone{"tell_plugins", "delete_lease", "delete_record", "release_name"}, u)
	require.NoError(t, (&undoStack{}).run(t.Context(), nil))
}

// A step that fails keeps all earlier steps of the creation.
func TestUndoThatFailsKeepsTheRest(t *testing.T) {
	stuck := errors.New("stuck")
	for name, tc := range map[string]struct {
		network, stop, plugins, left error
		taken                        undone
	}{
		"a step":             {network: stuck, taken: undone{"tell_plugins", "stop_sandbox", "teardown_pod_network"}},
		"a step of a try":    {stop: stuck, taken: undone{"tell_plugins", "stop_sandbox", "teardown_pod_network", "release_name"}},
		"the first":          {plugins: stuck, taken: undone{"tell_plugins", "stop_sandbox", "teardown_pod_network", "release_name"}},
		"an earlier failure": {left: stuck, taken: undone{"tell_plugins"}},
	} {
		t.Run(name, func(t *testing.T) {
			var u undone
			var s undoStack
			s.push(u.step("release_name", nil))
			s.push(u.step("teardown_pod_network", tc.network))
			s.pushTry(u.step("stop_sandbox", tc.stop))
			s.beginWith(u.step("tell_plugins", tc.plugins))
			left := s.run(t.Context(), tc.left)
			require.Equal(t, tc.taken, u)
			if tc.network != nil || tc.left != nil {
				require.ErrorIs(t, left, stuck)
			} else {
				require.NoError(t, left)
			}
		})
	}
}

// A step has its own time, even if the caller has canceled or the step before it hung.
func TestUndoStepsHaveTheirOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s undoStack
		var had time.Duration
		s.push("shutdown_sandbox", func(ctx context.Context) error {
			require.NoError(t, ctx.Err())
			due, ok := ctx.Deadline()
			require.True(t, ok)
			had = time.Until(due)
			namespace, ok := namespaces.Namespace(ctx)
			require.True(t, ok)
			require.Equal(t, "k8s.io", namespace)
			return nil
		})
		s.pushTry("stop_sandbox", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		require.NoError(t, s.run(gone, nil))
		require.Equal(t, time.Since(began), had, "the time of the step that hung")
	})
}

// The roll-back is a span below its caller's, and each step has a span of its own.
func TestUndoIsTraced(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)).Tracer("")
	ctx, run := tracer.Start(t.Context(), "cri.sandbox.run")
	var u undone
	var s undoStack
	s.push(u.step("teardown_pod_network", errors.New("stuck")))
	s.pushTry(u.step("stop_sandbox", errors.New("shim hangs")))
	s.beginWith(u.step("tell_plugins", nil))
	require.Error(t, s.run(ctx, nil))

	found := map[string]tracetest.SpanStub{}
	for _, span := range spans.GetSpans() {
		found[span.Name] = span
	}
	undo := found["cri.sandbox.undo"]
	require.Equal(t, run.SpanContext().SpanID(), undo.Parent.SpanID())
	for name, failure := range map[string]string{
		"cri.sandbox.undo.tell_plugins":         "",
		"cri.sandbox.undo.stop_sandbox":         "shim hangs",
		"cri.sandbox.undo.teardown_pod_network": "stuck",
	} {
		require.Contains(t, found, name)
		step := found[name]
		require.Equal(t, undo.SpanContext.SpanID(), step.Parent.SpanID(), name)
		require.Equal(t, failure != "", step.Status.Code == codes.Error, name)
		require.Equal(t, failure, step.Status.Description, name)
	}
	require.Equal(t, codes.Error, undo.Status.Code)
}
