// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/pkg/tracing"
)

// awaitPlugins waits for the disconnected NRI plugins that a pod requires (L20), and returns
// the context for its hook. Whether a pod on the host's network requires them is known only
// once it has its namespaces, so it waits in the hook.
func (c *criService) awaitPlugins(ctx context.Context, sandbox *sandboxstore.Sandbox) (context.Context, error) {
	if hostNetwork(sandbox.Config) {
		return ctx, nil
	}
	_, span := tracing.StartSpan(ctx, tracing.Name("cri", "sandbox", "await_plugins"), tracing.WithAttribute("sandbox.id", sandbox.ID))
	defer span.End()
	with, err := c.nri.AwaitPlugins(ctx, sandbox)
	span.SetStatus(err)
	if err != nil {
		return ctx, &sandboxstore.Interruption{By: byPlugin, Err: err}
	}
	return with, nil
}
