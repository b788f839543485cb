// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// StartsOfShims are the points around a shim's start command.
var StartsOfShims = []node.Point{node.Before(RuncShim, "start"), node.After(RuncShim, "start")}

// HoldCreation begins to create a pod, and returns when a program is held for it.
func HoldCreation(ctx context.Context, t *testing.T, n *node.Node, at node.Point, pod *runtime.PodSandboxConfig) (*node.Hold, <-chan error) {
	t.Helper()
	return holdCreation(ctx, t, n, at, pod.GetMetadata().GetName(), pod)
}

// HoldStartOfShim is HoldCreation at the start of the pod's shim. The shim of a sandbox is started
// without a specification, from which a hold knows the pod: the start of any is held.
func HoldStartOfShim(ctx context.Context, t *testing.T, n *node.Node, at node.Point, pod *runtime.PodSandboxConfig) (*node.Hold, <-chan error) {
	t.Helper()
	return holdCreation(ctx, t, n, at, "", pod)
}

func holdCreation(ctx context.Context, t *testing.T, n *node.Node, at node.Point, known string, pod *runtime.PodSandboxConfig) (*node.Hold, <-chan error) {
	t.Helper()
	hold, err := n.HoldAt(at, known)
	require.NoError(t, err)
	ran := InBackground(func() error {
		_, err := n.CRI().RunPod(ctx, pod)
		return err
	})
	require.NoError(t, hold.Entered(ctx))
	return hold, ran
}
