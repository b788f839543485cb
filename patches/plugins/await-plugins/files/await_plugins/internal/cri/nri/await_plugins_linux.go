// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// AwaitPlugins waits for the disconnected plugins that a pod requires, before anything of
// the pod is created. The caller must pass the returned context to RunPodSandbox.
func (a *API) AwaitPlugins(ctx context.Context, criPod *sstore.Sandbox) (context.Context, error) {
	if a.IsDisabled() {
		return ctx, nil
	}
	return a.nri.AwaitPlugins(ctx, a.nriPodSandbox(criPod))
}
