// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/api/types/task"
	"github.com/containerd/containerd/v2/pkg/namespaces"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// RunOnceNameIsFree runs a pod of which nobody hears when its creation before is
// undone: its name is the last thing to go, and cannot be listed.
func RunOnceNameIsFree(ctx context.Context, n Runtime, config *runtime.PodSandboxConfig) (id string, err error) {
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

// KindsLeft are those of which there is something left.
func KindsLeft(t require.TestingT, n *node.Node) (kinds []string) {
	left, err := n.Leftovers(context.Background())
	require.NoError(t, err)
	for _, l := range left {
		kinds = append(kinds, l.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// RequireSandboxesRun waits until so many sandboxes have a running process, whether
// CRI shows their pods or not.
func RequireSandboxesRun(ctx context.Context, t require.TestingT, n *node.Node, count int) {
	ctx = namespaces.WithNamespace(ctx, "k8s.io")
	require.NoError(t, wait.Until(ctx, "sandboxes", func(ctx context.Context) error {
		list, err := n.Containerd().TaskService().List(ctx, &tasks.ListTasksRequest{})
		if err != nil {
			return err
		}
		running := 0
		for _, p := range list.GetTasks() {
			if p.GetStatus() == task.Status_RUNNING {
				running++
			}
		}
		if running < count {
			return fmt.Errorf("%d of %d run", running, count)
		}
		return nil
	}))
}
