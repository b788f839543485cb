// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/wait"
)

// requireNothingLeft waits until the node is as it was without pods. What containerd
// does in the background, such as the end of a shim, has a moment.
func requireNothingLeft(t require.TestingT, n target) {
	requireSoon(t, "a clean node", func(ctx context.Context) error {
		left, err := n.Leftovers(ctx)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left:%s", lines(left))
		}
		return err
	})
}

// lines puts each of a list on a line.
func lines[T fmt.Stringer](list []T) string {
	var b strings.Builder
	for _, item := range list {
		b.WriteString("\n\t" + item.String())
	}
	return b.String()
}

// requirePodRunsAgain proves that a pod's name and all else that it needs is free.
func requirePodRunsAgain(t require.TestingT, n target, config *runtime.PodSandboxConfig) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	id, err := n.CRI().RunPod(ctx, config)
	require.NoError(t, err)
	require.NoError(t, n.CRI().StopPod(ctx, id))
	require.NoError(t, n.CRI().RemovePod(ctx, id))
}

// runOnceNameIsFree runs a pod of which nobody hears when its creation before is
// undone: its name is the last thing to go, and cannot be listed.
func runOnceNameIsFree(ctx context.Context, n target, config *runtime.PodSandboxConfig) (id string, err error) {
	err = wait.Until(ctx, "the name of the pod to be free", func(ctx context.Context) error {
		var err error
		id, err = n.CRI().RunPod(ctx, config)
		if err != nil && !strings.Contains(err.Error(), "is reserved for") {
			err = fmt.Errorf("%w: %w", wait.ErrPermanent, err)
		}
		return err
	})
	return id, err
}

// requireNothingLeftButSockets is requireNothingLeft, except for sockets of shims. Containerd
// deletes the bundle of a sandbox that died, and with it the file from which
// the shim knows the sockets to remove when it ends.
func requireNothingLeftButSockets(t require.TestingT, n target) {
	requireSoon(t, "a clean node", func(ctx context.Context) error {
		left, err := n.Leftovers(ctx)
		left = slices.DeleteFunc(left, func(l node.Leftover) bool { return l.Kind == "shim socket" })
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left:%s", lines(left))
		}
		return err
	})
}

// exceptShims leaves out what ends with a shim, which ends by itself.
func exceptShims(left []node.Leftover) (rest []node.Leftover) {
	for _, l := range left {
		if l.Kind != "process" && l.Kind != "shim socket" {
			rest = append(rest, l)
		}
	}
	return rest
}

// kindsLeft are those of which there is something left.
func kindsLeft(t require.TestingT, n *node.Node) (kinds []string) {
	left, err := n.Leftovers(context.Background())
	require.NoError(t, err)
	for _, l := range left {
		kinds = append(kinds, l.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// rollBackRaces is a roll-back of stock: the exit monitor of a sandbox deletes its
// task when the roll-back ends the process. Both are at it, and about one
// roll-back in twenty fails.
var rollBackRaces = sometimesOnStock("the roll-back and the exit monitor delete the sandbox at once, and the pod stays")
