// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
)

// soon is longer than any wait of a test, also when all processors are busy.
const soon = time.Minute

// begin creates a pod and its container as far as an event requires it. No plugin
// receives events of a pod or container that it does not know.
func begin(t *testing.T, r *nri.Adaptation, event string, pod *api.PodSandbox, ctr *api.Container) {
	t.Helper()
	ctx := context.Background()
	if event == RunPodSandbox {
		return
	}
	require.NoError(t, r.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}))
	if event == CreateContainer {
		return
	}
	_, err := r.CreateContainer(ctx, &api.CreateContainerRequest{Pod: pod, Container: ctr})
	require.NoError(t, err)
}

// eventually tries a request until it succeeds: the answer of a plugin may be on
// its way.
func eventually(t *testing.T, request func() error) {
	t.Helper()
	require.Eventually(t, func() bool { return request() == nil }, soon, time.Millisecond)
}

// undo ends a container that was rejected, as a runtime does.
func undo(t *testing.T, r *nri.Adaptation, pod *api.PodSandbox, ctr *api.Container) {
	t.Helper()
	require.NoError(t, r.RemoveContainer(context.Background(), &api.RemoveContainerRequest{Pod: pod, Container: ctr}))
}
