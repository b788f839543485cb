// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/pkg/api"
)

// pinning asks for an update of one container in each answer. The update's quota counts them.
type pinning struct {
	mu   sync.Mutex // guards said
	said int64
}

func (p *pinning) say() []*api.ContainerUpdate {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said++
	u := &api.ContainerUpdate{ContainerId: "shared"}
	u.SetLinuxCPUQuota(p.said)
	return []*api.ContainerUpdate{u}
}

func (p *pinning) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	return nil, p.say(), nil
}

func (p *pinning) UpdateContainer(context.Context, *api.PodSandbox, *api.Container, *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	return p.say(), nil
}

func (p *pinning) StopContainer(context.Context, *api.PodSandbox, *api.Container) ([]*api.ContainerUpdate, error) {
	return p.say(), nil
}

// Updates of other containers are applied in the order in which a plugin asked for them, in
// replies to all kinds of requests. CreateContainer returns after they are applied.
func TestUpdatesOfAllAnswersKeepTheirOrder(t *testing.T) {
	const n = 8
	var (
		mu      sync.Mutex // guards applied
		applied []int64
		ctx     = context.Background()
		pod     = &api.PodSandbox{Id: "pod0"}
	)
	p := &pinning{}
	r, _ := ordered(t, func(_ context.Context, updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
		for _, u := range updates {
			quota := u.GetLinux().GetResources().GetCpu().GetQuota().GetValue()
			for until := time.Now().Add(10 * time.Millisecond); time.Now().Before(until); { // the others are asked meanwhile
				p.mu.Lock()
				all := p.said == 3*n
				p.mu.Unlock()
				if all {
					break
				}
			}
			mu.Lock()
			applied = append(applied, quota)
			mu.Unlock()
		}
		return nil, nil
	}, p)

	require.NoError(t, r.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}))
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			ctr := &api.Container{Id: fmt.Sprintf("ctr%d", i), PodSandboxId: "pod0"}
			created, err := r.CreateContainer(ctx, &api.CreateContainerRequest{Pod: pod, Container: ctr})
			if err != nil || len(created.GetUpdate()) > 0 {
				t.Errorf("%v, %v", created, err)
			}
			updated, err := r.UpdateContainer(ctx, &api.UpdateContainerRequest{Pod: pod, Container: ctr})
			if err != nil || len(updated.GetUpdate()) != 1 {
				t.Errorf("%v, %v", updated, err)
			}
			_, err = r.StopContainer(ctx, &api.StopContainerRequest{Pod: pod, Container: ctr})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(applied) == 3*n
	}, soon, time.Millisecond)
	for i, said := range applied {
		require.Equal(t, int64(i+1), said, "%v", applied)
	}
}

// A runtime may report the updates that failed without an error. With an error, the plugin
// would not receive which failed.
func TestUpdatesThatFailedAreReported(t *testing.T) {
	_, s := ordered(t, func(_ context.Context, updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
		return updates, nil
	}, &pinning{})
	failed, err := s.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "a"}, {ContainerId: "b"}})
	require.NoError(t, err)
	require.Len(t, failed, 2)
}
