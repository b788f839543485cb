// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/cluster/record"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// A pod has ended when each of its sandboxes has: the kubelet may have asked for more than one.
func TestMissingEnds(t *testing.T) {
	one := &api.PodSandbox{Id: "1", Uid: "u", Namespace: "n"}
	two := &api.PodSandbox{Id: "2", Uid: "u", Namespace: "n"}
	other := &api.PodSandbox{Id: "3", Uid: "v", Namespace: "elsewhere"}
	now := time.Now()
	removed := func(pod *api.PodSandbox, at time.Time) plugin.Call {
		return plugin.Call{Event: plugin.RemovePodSandbox, Pod: pod, End: at}
	}
	missing := func(calls ...plugin.Call) []string {
		return missingEnds([]record.Process{{Calls: calls}}, "n", map[string]string{"u": "web"})
	}
	listed := plugin.Call{Event: plugin.Synchronize, Pods: []*api.PodSandbox{one, two}, End: now}

	require.Equal(t, []string{"web (0 of 0 sandboxes)"}, missing())
	require.Equal(t, []string{"web (0 of 0 sandboxes)"}, missing(removed(other, now)))
	require.Equal(t, []string{"web (1 of 2 sandboxes)"}, missing(listed, removed(one, now)))
	require.Equal(t, []string{"web (1 of 2 sandboxes)"}, missing(listed, removed(one, now), removed(two, time.Time{})), "not answered")
	require.Empty(t, missing(listed, removed(one, now), removed(two, now)))
}
