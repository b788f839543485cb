// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	"github.com/containerd/log"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// stopContainer sends the stop of a container to the plugins, and applies the updates of
// other containers that they request, even if a plugin fails.
func (l *local) stopContainer(ctx context.Context, pod PodSandbox, ctr Container) error {
	response, stopErr := l.nri.StopContainer(ctx, &nri.StopContainerRequest{
		Pod:       podSandboxToNRI(pod),
		Container: containerToNRI(ctr),
	})
	if _, err := l.applyUpdates(ctx, response.GetUpdate()); err != nil {
		log.G(ctx).WithError(err).WithField("container", ctr.GetID()).Warn("failed to apply the updates that NRI plugins requested after a container stopped")
	}
	return stopErr
}
