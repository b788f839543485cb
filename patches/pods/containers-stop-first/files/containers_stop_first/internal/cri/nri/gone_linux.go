// SPDX-License-Identifier: Apache-2.0

package nri

import sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"

// gonePod is a placeholder for a pod that is no longer in the store.
func gonePod(id string) *sstore.Sandbox {
	pod := sstore.NewSandbox(sstore.Metadata{ID: id}, sstore.Status{State: sstore.StateUnknown})
	return &pod
}
