// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/pkg/tracing"
)

// step runs a step of a request as a span.
func step[T any](ctx context.Context, name, id string, do func(context.Context) (T, error)) (T, error) {
	ctx, span := tracing.StartSpan(ctx, tracing.Name("cri", "sandbox", name), tracing.WithAttribute("sandbox.id", id))
	defer span.End()
	result, err := do(ctx)
	span.SetStatus(err)
	return result, err
}

// act runs a step without a result.
func act(ctx context.Context, name, id string, do func(context.Context) error) error {
	_, err := step(ctx, name, id, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// tracedSandboxService adds spans to the calls that create and end sandboxes.
type tracedSandboxService struct {
	sandboxService
}

// CreateSandbox implements sandboxService.
func (t tracedSandboxService) CreateSandbox(ctx context.Context, info sandbox.Sandbox, opts ...sandbox.CreateOpt) error {
	return act(ctx, "create", info.ID, func(ctx context.Context) error { return t.sandboxService.CreateSandbox(ctx, info, opts...) })
}

// StartSandbox implements sandboxService.
func (t tracedSandboxService) StartSandbox(ctx context.Context, sandboxer, id string) (sandbox.ControllerInstance, error) {
	return step(ctx, "start", id, func(ctx context.Context) (sandbox.ControllerInstance, error) {
		return t.sandboxService.StartSandbox(ctx, sandboxer, id)
	})
}

// StopSandbox implements sandboxService.
func (t tracedSandboxService) StopSandbox(ctx context.Context, sandboxer, id string, opts ...sandbox.StopOpt) error {
	return act(ctx, "stop", id, func(ctx context.Context) error { return t.sandboxService.StopSandbox(ctx, sandboxer, id, opts...) })
}

// ShutdownSandbox implements sandboxService.
func (t tracedSandboxService) ShutdownSandbox(ctx context.Context, sandboxer, id string) error {
	return act(ctx, "shutdown", id, func(ctx context.Context) error { return t.sandboxService.ShutdownSandbox(ctx, sandboxer, id) })
}
