// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// nextAttempt ends the sandbox of a pod and makes another one, as older kubelets do: for them the
// newest sandbox in the list is the last attempt. Newer kubelets take the one with the highest
// number.
func nextAttempt(ctx context.Context, n *node.Node, config *runtime.PodSandboxConfig) (string, error) {
	pods, err := n.CRI().Pods(ctx)
	if err != nil {
		return "", err
	}
	slices.SortFunc(pods, func(a, b *runtime.PodSandbox) int { return cmp.Compare(b.GetCreatedAt(), a.GetCreatedAt()) })
	for _, pod := range pods {
		if err := n.CRI().StopPod(ctx, pod.GetId()); err != nil {
			return "", err
		}
	}
	config.Metadata.Attempt = pods[0].GetMetadata().GetAttempt() + 1
	return n.CRI().RunPod(ctx, config)
}

// The second attempt at a pod is interrupted when only its record exists.
func TestL15_PodThatWasCutIsReplacedByTheNextAttempt(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithoutNRI)
	ctx, c := WithinAMinute(t), n.CRI()
	config := func() *runtime.PodSandboxConfig {
		config := c.Pod("again")
		config.Linux.Sysctls = map[string]string{"net.ipv4.ip_unprivileged_port_start": "1024"} // with it, the ADD comes first
		return config
	}
	first, err := c.RunPod(ctx, config())
	require.NoError(t, err)
	require.NoError(t, c.StopPod(ctx, first))

	second := config()
	second.Metadata.Attempt = 1
	add, ran := HoldCreation(ctx, t, n, node.Before("ptp", "ADD"), second)
	require.NoError(t, n.Kill(ctx))
	require.Error(t, <-ran)
	require.NoError(t, add.Release())
	require.NoError(t, n.Quiet(ctx))
	require.NoError(t, n.Boot(ctx))

	_, err = nextAttempt(ctx, n, config())
	RemoveAllPods(ctx, t, c)
	Promise(t, "L15", "the next attempt at a pod whose creation was interrupted starts", KeptOnStock, func(t require.TestingT) {
		assert.NoError(t, err)
	})
	RequireNothingLeft(t, n)
}
