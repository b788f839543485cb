// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

var _ = Pod.has("L6_PodIsHiddenWhileItsHookRuns", Patient, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "holds")
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	pod := NewInHook(t, n, p, "coming")

	require.Empty(t, CallsThatShow(ctx, t, n, pod.ID))
	_, errStatus := c.Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod.ID})
	_, errStats := c.Runtime.PodSandboxStats(ctx, &runtime.PodSandboxStatsRequest{PodSandboxId: pod.ID})
	_, errCreate := c.Create(ctx, pod.ID, pod.Config, c.Container("early"))
	containers, err := c.Runtime.ListContainers(ctx, &runtime.ListContainersRequest{})
	require.NoError(t, err)
	require.Empty(t, containers.GetContainers())
	pod.Gate.Release()
	require.NoError(t, <-pod.Ran)

	require.Len(t, CallsThatShow(ctx, t, n, pod.ID), 4, "once the pod is Ready")
	_, err = c.Create(ctx, pod.ID, pod.Config, c.Container("early")) // its name was not taken
	require.NoError(t, err)
	require.NoError(t, c.RemovePod(ctx, pod.ID))
	t.Promise("L6", "CreateContainer in a pod whose hook runs is rejected, and not with NotFound", OnStock("it is NotFound"), func(t require.TestingT) {
		require.Error(t, errCreate)
		assert.NotEqual(t, codes.NotFound, status.Code(errCreate), "%v", errCreate)
	})
	t.Words("L6", "the error says why", OnStock("it says that no such pod exists"), func(t require.TestingT) {
		assert.Equal(t, codes.FailedPrecondition, status.Code(errCreate))
		assert.ErrorContains(t, errCreate, "is still being created")
	})
	t.Words("L6", "status and statistics of the pod are NotFound", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, codes.NotFound, status.Code(errStatus), "%v", errStatus)
		assert.Equal(t, codes.NotFound, status.Code(errStats), "%v", errStats)
	})
	RequireNothingLeft(t, n)
})
