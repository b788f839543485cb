// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	"github.com/containerd/log"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// stopContainer tells the plugins that a container has stopped, and applies
// the updates of others that they ask for. A plugin that fails keeps nobody
// else's updates from being applied.
func (l *local) stopContainer(ctx context.Context, pod PodSandbox, ctr Container) error {
	response, stopErr := l.nri.StopContainer(ctx, &nri.StopContainerRequest{
		Pod:       podSandboxToNRI(pod),
		Container: containerToNRI(ctr),
	})
	if _, err := l.applyUpdates(ctx, response.GetUpdate()); err != nil {
		log.G(ctx).WithError(err).WithField("container", ctr.GetID()).Warn("NRI updates of other containers failed after a stop")
	}
	return stopErr
}
