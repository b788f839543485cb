// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"fmt"
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

// updating is a plugin that asks for an update in each StopContainer. After the first
// stops it waits for goOn before it answers.
type updating struct {
	prompt int // stops that it answers at once
	goOn   chan struct{}
	mu     sync.Mutex // guards what follows
	said   []string
}

func (p *updating) RunPodSandbox(context.Context, *api.PodSandbox) error { return nil }

func (p *updating) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	return nil, nil, nil
}

func (p *updating) StopContainer(_ context.Context, _ *api.PodSandbox, ctr *api.Container) ([]*api.ContainerUpdate, error) {
	p.mu.Lock()
	holds := len(p.said) >= p.prompt
	p.mu.Unlock()
	if holds {
		<-p.goOn
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, ctr.GetId())
	return []*api.ContainerUpdate{{ContainerId: ctr.GetId()}}, nil
}

// ordered starts an adaptation whose runtime applies updates in the order in which plugins asked
// for them, and connects a plugin.
func ordered(t *testing.T, update nri.UpdateFn, p any, opts ...stub.Option) (*nri.Adaptation, stub.Stub) {
	t.Helper()
	dir := t.TempDir()
	socket := filepath.Join(dir, "nri.sock")
	r, err := nri.New(defaultRuntimeName, defaultRuntimeVersion,
		func(ctx context.Context, cb nri.SyncCB) error { _, err := cb(ctx, nil, nil); return err },
		update,
		nri.WithPluginPath(filepath.Join(dir, "plugins")), nri.WithSocketPath(socket), nri.WithOrderedUpdates())
	require.NoError(t, err)
	require.NoError(t, r.Start())
	t.Cleanup(r.Stop)
	s, err := stub.New(p, append(opts, stub.WithPluginName("asks"), stub.WithPluginIdx("00"), stub.WithSocketPath(socket))...)
	require.NoError(t, err)
	require.NoError(t, s.Start(context.Background()))
	t.Cleanup(s.Stop)
	require.Eventually(t, func() bool {
		all := r.PluginStatus()
		return len(all) == 1 && all[0].Synchronized
	}, soon, time.Millisecond)
	return r, s
}

// When containers stop at the same time, all updates that a plugin asks for are
// applied, once each and in its order, though most of its answers come after the
// requests have ended.
func TestOrderedUpdates(t *testing.T) {
	const n, timeout = 20, time.Second
	nri.SetPluginRequestTimeout(timeout)
	t.Cleanup(func() { nri.SetPluginRequestTimeout(nri.DefaultPluginRequestTimeout) })
	var (
		mu      sync.Mutex // guards updated
		updated []string
		ctx     = context.Background()
		pod     = &api.PodSandbox{Id: "pod0"}
	)
	p := &updating{prompt: n / 4, goOn: make(chan struct{})}
	r, _ := ordered(t, func(_ context.Context, updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, u := range updates {
			updated = append(updated, u.GetContainerId())
		}
		return nil, nil
	}, p, stub.WithFailurePolicy(&api.FailurePolicy{KeepConnected: true}))

	require.NoError(t, r.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}))
	for i := range n {
		_, err := r.CreateContainer(ctx, &api.CreateContainerRequest{Pod: pod, Container: &api.Container{Id: fmt.Sprintf("ctr%d", i), PodSandboxId: "pod0"}})
		require.NoError(t, err)
	}
	var stops sync.WaitGroup
	for i := range n {
		stops.Add(1)
		go func() {
			defer stops.Done()
			response, _ := r.StopContainer(ctx, &api.StopContainerRequest{Pod: pod, Container: &api.Container{Id: fmt.Sprintf("ctr%d", i), PodSandboxId: "pod0"}})
			if len(response.GetUpdate()) > 0 {
				t.Errorf("the response has updates of its own: %v", response)
			}
		}()
	}
	stops.Wait()
	close(p.goOn)
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(updated) == n
	}, soon, time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	mu.Lock()
	defer mu.Unlock()
	require.True(t, slices.Equal(p.said, updated), "said %v, applied %v", p.said, updated)
}

// balancing is a plugin that answers each update of a container with updates of the same container and
// of another one. It waits for goOn before it answers.
type balancing struct {
	entered, goOn chan struct{}
}

func (p *balancing) UpdateContainer(_ context.Context, _ *api.PodSandbox, ctr *api.Container, _ *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	p.entered <- struct{}{}
	<-p.goOn
	return []*api.ContainerUpdate{{ContainerId: ctr.GetId()}, {ContainerId: "other"}}, nil
}

// The caller of an update leaves before the plugin has answered: the update has failed, and the
// answer changes nothing.
func TestAnswerToAFailedUpdateChangesNothing(t *testing.T) {
	var mu sync.Mutex
	var applied []string
	p := &balancing{entered: make(chan struct{}, 1), goOn: make(chan struct{})}
	r, s := ordered(t, func(_ context.Context, updates []*nri.ContainerUpdate) ([]*nri.ContainerUpdate, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, u := range updates {
			applied = append(applied, u.GetContainerId())
		}
		return nil, nil
	}, p)
	pod, ctr := &api.PodSandbox{Id: "pod"}, &api.Container{Id: "own", PodSandboxId: "pod"}
	require.NoError(t, r.RunPodSandbox(t.Context(), &api.RunPodSandboxRequest{Pod: pod}))
	_, err := r.CreateContainer(t.Context(), &api.CreateContainerRequest{Pod: pod, Container: ctr})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := r.UpdateContainer(ctx, &api.UpdateContainerRequest{Pod: pod, Container: ctr})
		failed <- err
	}()
	<-p.entered
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	close(p.goOn)

	// The next update comes after the late answer, and what the plugin asks for after that comes last.
	_, err = r.UpdateContainer(t.Context(), &api.UpdateContainerRequest{Pod: pod, Container: ctr})
	require.NoError(t, err)
	_, err = s.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "last"}})
	require.NoError(t, err)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"other", "last"}, applied)
}
