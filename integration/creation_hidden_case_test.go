// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/plugin"
)

func TestL6_PodIsHiddenWhileItsHookRuns(t *testing.T) {
	t.Parallel()
	n := startTarget(t, patient)
	p := plugin.New("10", "holds")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	pod := newInHook(t, n, p, "coming")

	require.Empty(t, callsThatShow(ctx, t, n, pod.id))
	_, errCreate := c.Create(ctx, pod.id, pod.config, c.Container("early"))
	containers, err := c.Runtime.ListContainers(ctx, &runtime.ListContainersRequest{})
	require.NoError(t, err)
	require.Empty(t, containers.GetContainers())
	pod.gate.Release()
	require.NoError(t, <-pod.ran)

	require.Len(t, callsThatShow(ctx, t, n, pod.id), 4, "once it is ready")
	_, err = c.Create(ctx, pod.id, pod.config, c.Container("early")) // its name was not taken
	require.NoError(t, err)
	require.NoError(t, c.RemovePod(ctx, pod.id))
	promise(t, "L6", "a container of a pod in its hook is refused, and the error says why", onStock("it is refused as if there was no such pod"), func(t require.TestingT) {
		assert.Equal(t, codes.FailedPrecondition, status.Code(errCreate))
		assert.ErrorContains(t, errCreate, "is still being created")
	})
	requireNothingLeft(t, n)
}
