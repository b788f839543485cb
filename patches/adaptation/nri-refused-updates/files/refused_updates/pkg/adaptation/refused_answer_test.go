// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// The answer to what holds is no part of an update: it changes other containers, and not the one that
// was updated.
func TestAnswerToWhatHoldsChangesOthersOnly(t *testing.T) {
	var mu sync.Mutex
	var applied []string
	pod, ctr := &api.PodSandbox{Id: "pod"}, &api.Container{
		Id: "own", PodSandboxId: "pod", Linux: &api.LinuxContainer{Resources: &api.LinuxResources{}}}
	dir := t.TempDir()
	socket := filepath.Join(dir, "nri.sock")
	r, err := nri.New(defaultRuntimeName, defaultRuntimeVersion,
		func(ctx context.Context, cb nri.SyncCB) error { _, err := cb(ctx, nil, nil); return err },
		func(_ context.Context, updates []*nri.ContainerUpdate) ([]*nri.ContainerUpdate, error) {
			mu.Lock()
			defer mu.Unlock()
			for _, u := range updates {
				applied = append(applied, u.GetContainerId())
			}
			return nil, nil
		},
		nri.WithPluginPath(filepath.Join(dir, "plugins")), nri.WithSocketPath(socket), nri.WithOrderedUpdates(),
		nri.WithLookup(func(_, _ string) (*nri.PodSandbox, *nri.Container) { return pod, ctr }))
	require.NoError(t, err)
	require.NoError(t, r.Start())
	t.Cleanup(r.Stop)
	p := &balancing{entered: make(chan struct{}, 2), goOn: make(chan struct{})}
	close(p.goOn)
	s, err := stub.New(p, stub.WithPluginName("balances"), stub.WithPluginIdx("00"), stub.WithSocketPath(socket))
	require.NoError(t, err)
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(s.Stop)
	require.Eventually(t, func() bool {
		all := r.PluginStatus()
		return len(all) == 1 && all[0].Synchronized
	}, soon, time.Millisecond)
	require.NoError(t, r.RunPodSandbox(t.Context(), &api.RunPodSandboxRequest{Pod: pod}))
	_, err = r.CreateContainer(t.Context(), &api.CreateContainerRequest{Pod: pod, Container: ctr})
	require.NoError(t, err)

	for range 2 {
		_, err := r.UpdateContainer(t.Context(), &api.UpdateContainerRequest{Pod: pod, Container: ctr, LinuxResources: &api.LinuxResources{}})
		require.NoError(t, err)
		<-p.entered
		mu.Lock()
		applied = nil
		mu.Unlock()
		require.NoError(t, r.UndoUpdateContainer("pod", "own"))
		<-p.entered
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Contains(applied, "other")
		}, soon, time.Millisecond)
	}
	// What a plugin asks for is applied in order.
	_, err = s.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "last"}})
	require.NoError(t, err)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"other", "last"}, applied)
}
