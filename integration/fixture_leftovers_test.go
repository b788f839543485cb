// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// runOnceNameIsFree runs a pod of which nobody hears when its creation before is
// undone: its name is the last thing to go, and cannot be listed.
func runOnceNameIsFree(ctx context.Context, n fixture.Runtime, config *runtime.PodSandboxConfig) (id string, err error) {
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
