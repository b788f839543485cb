// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"github.com/containerd/log"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	ctrdutil "github.com/containerd/containerd/v2/internal/cri/util"
)

// UndoRunPodSandbox sends the plugins that had RunPodSandbox of a pod whose creation
// failed StopPodSandbox, then RemovePodSandbox. The caller's context may be why it
// failed, so this has one of its own.
func (a *API) UndoRunPodSandbox(criPod *sstore.Sandbox) {
	if a.IsDisabled() {
		return
	}

	ctx, cancel := ctrdutil.DeferContext()
	defer cancel()

	pod := a.nriPodSandbox(criPod)
	if err := a.nri.StopPodSandbox(ctx, pod); err != nil {
		log.G(ctx).WithError(err).WithField("podsandboxid", criPod.ID).Error("NRI plugins failed to stop a pod that was not created")
	}
	if err := a.nri.RemovePodSandbox(ctx, pod); err != nil {
		log.G(ctx).WithError(err).WithField("podsandboxid", criPod.ID).Error("NRI plugins failed to remove a pod that was not created")
	}
}
