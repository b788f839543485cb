// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"errors"
	"fmt"

	"github.com/containerd/ttrpc"
)

// syncPart returns how many of the pods and containers that are left go into a
// message of n objects. Pods go first. If n is at least one, the message is empty
// only if nothing is left.
func syncPart(n, podsLeft, ctrsLeft int) (pods, ctrs int) {
	pods = min(n, podsLeft)
	return pods, min(n-pods, ctrsLeft)
}

// smallerSyncPart returns how many of the pods and containers of a message that was
// too large go into the next one: fewer in proportion to its size, and at most half,
// since the objects that are left out may be the smaller ones. It returns any other
// rejection as it is. If a single object is too large, the error names it.
func smallerSyncPart(pods []*PodSandbox, ctrs []*Container, rejection error) (int, int, error) {
	var tooLarge *ttrpc.OversizedMessageErr
	if !errors.As(rejection, &tooLarge) {
		return 0, 0, rejection
	}
	n := len(pods) + len(ctrs)
	if n <= 1 {
		return 0, 0, fmt.Errorf("%s does not fit in a message of its own: %w", syncObject(pods, ctrs), rejection)
	}
	share := float64(tooLarge.MaximumLength()) / float64(tooLarge.RejectedLength())
	n = max(1, min(n/2, int(float64(n)*share)))
	podsNow, ctrsNow := syncPart(n, len(pods), len(ctrs))
	return podsNow, ctrsNow, nil
}

// syncObject names the only object of a message.
func syncObject(pods []*PodSandbox, ctrs []*Container) string {
	switch {
	case len(pods) > 0:
		return fmt.Sprintf("pod %s/%s (%s)", pods[0].GetNamespace(), pods[0].GetName(), pods[0].GetId())
	case len(ctrs) > 0:
		return fmt.Sprintf("container %s (%s) of pod %s", ctrs[0].GetName(), ctrs[0].GetId(), ctrs[0].GetPodSandboxId())
	}
	return "an empty Synchronize"
}
