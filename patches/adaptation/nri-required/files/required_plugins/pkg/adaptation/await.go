// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// AwaitRequired waits for the plugins that a pod requires and that are disconnected. It is for
// runtimes that call it before they make anything of the pod, which a pod that waits in
// RunPodSandbox holds. It tells no plugin of the pod, and fails as RunPodSandbox would.
// A RunPodSandbox with the context that it returns waits for as long as is left.
func (r *Adaptation) AwaitRequired(ctx context.Context, req *RunPodSandboxRequest) (context.Context, error) {
	ev := podEvent(lifecycle.RunPodSandbox, req.GetPod(), req)
	ctx, err := r.engine.Await(ctx, ev)
	return ctx, failureOf(ev, err)
}
