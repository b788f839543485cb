// SPDX-License-Identifier: Apache-2.0

package shims

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// Statistics lack the container of a shim that hangs, and no other (containerd/containerd#13848, #6362).
func TestL22_HungShimWithholdsItsOwnStatisticsOnly(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	hung, answers := NewLife(t, n, "hung"), NewLife(t, n, "answers")
	thaw := FreezeShim(t, n, hung.Pod)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // two for each task of the shim, twice
	defer cancel()
	pods, errPods := n.CRI().Runtime.ListPodSandboxStats(ctx, &runtime.ListPodSandboxStatsRequest{})
	containers, errContainers := n.CRI().Runtime.ListContainerStats(ctx, &runtime.ListContainerStatsRequest{})
	thaw()
	Promise(t, "L22", "a shim that hangs withholds its own statistics only", OnStock("they wait for the shim"), func(t require.TestingT) {
		require.NoError(t, errPods)
		require.NoError(t, errContainers)
		used := map[string]uint64{}
		for _, c := range containers.GetStats() {
			used[c.GetAttributes().GetId()] = c.GetCpu().GetUsageCoreNanoSeconds().GetValue()
		}
		assert.Positive(t, used[answers.Container], "processor time of the container whose shim answers")
		assert.Zero(t, used[hung.Container], "processor time of the one whose shim hangs")
		for _, p := range pods.GetStats() {
			used[p.GetAttributes().GetId()] = p.GetLinux().GetCpu().GetUsageCoreNanoSeconds().GetValue()
		}
		for _, pod := range []string{hung.Pod, answers.Pod} {
			assert.Contains(t, used, pod)
		}
	})
}
