// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"errors"
	"fmt"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// UndoRunPodSandbox sends StopPodSandbox, then RemovePodSandbox, of a pod whose creation
// failed to the plugins that received its RunPodSandbox. ctx must not be the context of
// the creation, which may have ended. The error names the plugins that failed.
func (a *API) UndoRunPodSandbox(ctx context.Context, criPod *sstore.Sandbox) error {
	if a.IsDisabled() {
		return nil
	}

	pod := a.nriPodSandbox(criPod)
	stopErr := a.nri.StopPodSandbox(ctx, pod)
	if stopErr != nil {
		stopErr = fmt.Errorf("NRI plugins failed to stop a pod that was not created: %w", stopErr)
	}
	removeErr := a.nri.RemovePodSandbox(ctx, pod)
	if removeErr != nil {
		removeErr = fmt.Errorf("NRI plugins failed to remove a pod that was not created: %w", removeErr)
	}
	return errors.Join(stopErr, removeErr)
}
