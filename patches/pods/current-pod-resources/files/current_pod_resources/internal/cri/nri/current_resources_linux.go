// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"github.com/containerd/errdefs"
	"github.com/containerd/log"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
)

// updatedResources returns the resources of a pod's last update, and none if there was no update.
func updatedResources(record *sandbox.Sandbox) (updated podsandbox.UpdatedResources) {
	if err := record.GetExtension(podsandbox.UpdatedResourcesKey, &updated); err != nil && !errdefs.IsNotFound(err) {
		log.L.WithError(err).Errorf("failed to read the updated resources of sandbox %s", record.ID)
	}
	return updated
}
