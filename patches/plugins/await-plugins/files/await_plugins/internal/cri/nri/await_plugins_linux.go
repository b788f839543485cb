// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// AwaitPlugins waits for the plugins that a pod requires and that are disconnected, before
// anything of it is made. RunPodSandbox is to be given the context that it returns.
func (a *API) AwaitPlugins(ctx context.Context, criPod *sstore.Sandbox) (context.Context, error) {
	if a.IsDisabled() {
		return ctx, nil
	}
	return a.nri.AwaitPlugins(ctx, a.nriPodSandbox(criPod))
}
