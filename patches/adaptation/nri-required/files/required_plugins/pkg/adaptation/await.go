// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// AwaitRequired waits for the required plugins of a pod that are disconnected. A runtime may
// call it before it allocates anything for the pod, so that a waiting pod holds nothing. No
// plugin receives the pod. AwaitRequired fails as RunPodSandbox would. RunPodSandbox with the
// context that it returns waits only for the time that is left.
func (r *Adaptation) AwaitRequired(ctx context.Context, req *RunPodSandboxRequest) (context.Context, error) {
	ev := podEvent(lifecycle.RunPodSandbox, req.GetPod(), req)
	ctx, err := r.engine.Await(ctx, ev)
	return ctx, failureOf(ev, err)
}
