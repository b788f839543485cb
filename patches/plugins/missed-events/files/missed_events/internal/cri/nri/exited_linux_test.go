// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	"github.com/stretchr/testify/require"

	cstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	"github.com/containerd/containerd/v2/internal/cri/store/label"
)

// Exited containers are listed by their ids. Nothing else of them is read: the listed container
// has no client's container behind it.
func TestExitedContainersAreListed(t *testing.T) {
	cri := listCRI{store: cstore.NewStore(label.NewStore(), nil)}
	for id, status := range map[string]cstore.Status{
		"running":        {CreatedAt: 1, StartedAt: 2, Pid: 6},
		"exited":         {CreatedAt: 1, StartedAt: 2, FinishedAt: 3},
		"being-removed":  {CreatedAt: 1, StartedAt: 2, FinishedAt: 3, Removing: true},
		"failed-at-once": {CreatedAt: 1, FinishedAt: 3},
	} {
		ctr, err := cstore.NewContainer(cstore.Metadata{ID: id, SandboxID: "pod"}, cstore.WithStatus(status, t.TempDir()))
		require.NoError(t, err)
		require.NoError(t, cri.store.Add(ctr))
	}
	exited := map[string]string{}
	for pod, id := range NewAPI(nil, cri).ExitedContainers() {
		exited[id] = pod
	}
	require.Equal(t, map[string]string{"exited": "pod", "being-removed": "pod", "failed-at-once": "pod"}, exited)
}
