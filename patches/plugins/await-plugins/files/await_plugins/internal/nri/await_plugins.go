// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// AwaitPlugins implements API.
func (l *local) AwaitPlugins(ctx context.Context, pod PodSandbox) (context.Context, error) {
	if !l.IsEnabled() {
		return ctx, nil
	}
	ctx, err := l.nri.AwaitRequired(ctx, &nri.RunPodSandboxRequest{Pod: podSandboxToNRI(pod)})
	return ctx, podFailure(pod, err)
}
