// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// A pod without a process has the statistics of its cgroup, before and after a restart of containerd.
func TestL25_StatisticsOfAPodAreThoseOfItsContainers(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	l := NewLife(t, n, "counts")
	requireStatistics(t, l)
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	requireStatistics(t, l)
}

func requireStatistics(t *testing.T, l Life) {
	t.Helper()
	r, err := l.N.CRI().Runtime.PodSandboxStats(WithinAMinute(t), &runtime.PodSandboxStatsRequest{PodSandboxId: l.Pod})
	require.NoError(t, err)
	pod := r.GetStats().GetLinux()
	require.Len(t, pod.GetContainers(), 1)
	container := pod.GetContainers()[0]
	require.Equal(t, l.Container, container.GetAttributes().GetId())
	require.Positive(t, container.GetCpu().GetUsageCoreNanoSeconds().GetValue())
	require.Positive(t, pod.GetCpu().GetUsageCoreNanoSeconds().GetValue())
	require.Positive(t, pod.GetMemory().GetWorkingSetBytes().GetValue())
}
