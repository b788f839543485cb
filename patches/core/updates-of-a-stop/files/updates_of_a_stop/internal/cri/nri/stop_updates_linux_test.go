// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/core/containers"
	cstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	"github.com/containerd/containerd/v2/internal/cri/store/label"
	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
)

// updated is a node with one container, which has the node's name. It notes updates of the
// container. Domains stay registered, so each run has another name.
type updated struct {
	nri.Domain
	name string
	ids  chan string
}

func (u *updated) GetName() string                              { return u.name }
func (*updated) ListPodSandboxes() []nri.PodSandbox             { return nil }
func (*updated) ListContainers() []nri.Container                { return nil }
func (u *updated) GetContainer(id string) (nri.Container, bool) { return nil, id == u.name }

func (u *updated) UpdateContainer(_ context.Context, update *api.ContainerUpdate) error {
	u.ids <- update.GetContainerId()
	return nil
}

// shares is a plugin that gives the CPUs of a stopped container to another one, or fails.
type shares struct {
	with         string // the other container
	fails        bool
	synchronized chan struct{}
}

func (p *shares) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	close(p.synchronized)
	return nil, nil
}

func (p *shares) StopContainer(context.Context, *api.PodSandbox, *api.Container) ([]*api.ContainerUpdate, error) {
	if p.fails {
		return nil, errors.New("no books")
	}
	u := &api.ContainerUpdate{ContainerId: p.with}
	u.SetLinuxCPUSetCPUs("0-3")
	return []*api.ContainerUpdate{u}, nil
}

// The update that a plugin asks for when a container stops is applied, though a plugin before it
// failed.
func TestUpdatesOfAStopThatFailedAreApplied(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	config := nri.DefaultConfig()
	config.SocketPath, config.PluginPath = filepath.Join(dir, "nri.sock"), filepath.Join(dir, "plugins")
	plugins, err := nri.New(config, nil)
	require.NoError(t, err)
	node := &updated{name: fmt.Sprint(t.Name(), time.Now().UnixNano()), ids: make(chan string, 1)}
	nri.RegisterDomain(node)
	require.NoError(t, plugins.Start())
	t.Cleanup(plugins.Stop)
	for i, p := range []*shares{{fails: true}, {with: node.name}} {
		p.synchronized = make(chan struct{})
		s, err := stub.New(p, stub.WithPluginName("shares"), stub.WithPluginIdx(fmt.Sprint(10+i)), stub.WithSocketPath(config.SocketPath))
		require.NoError(t, err)
		require.NoError(t, s.Start(ctx))
		t.Cleanup(s.Stop)
		<-p.synchronized
	}
	plugins.BlockPluginSync().Unblock() // waits until they are registered

	sandbox := sstore.NewSandbox(sstore.Metadata{ID: "pod"}, sstore.Status{})
	pod := &criPodSandbox{Sandbox: &sandbox, spec: &runtimespec.Spec{}}
	ctr := stoppedContainer{&criContainer{
		api:  NewAPI(plugins, noSandboxes{}),
		spec: &runtimespec.Spec{Process: &runtimespec.Process{}, Root: &runtimespec.Root{}, Linux: &runtimespec.Linux{}},
		meta: &cstore.Metadata{ID: "ctr", SandboxID: "pod"}, ctrs: &containers.Container{ID: "ctr"},
	}}
	_, err = plugins.CreateContainer(ctx, pod, ctr)
	require.NoError(t, err)
	if err := plugins.StopContainer(ctx, pod, ctr); err != nil { // nil if the stop came after Synchronize in its queue
		require.ErrorContains(t, err, "no books")
	}
	select {
	case id := <-node.ids:
		require.Equal(t, node.name, id)
	case <-time.After(time.Minute):
		require.Fail(t, "nothing is updated")
	}
}

// noSandboxes is the rest of CRI: a node without sandboxes.
type noSandboxes struct{ CRIImplementation }

func (noSandboxes) SandboxStore() *sstore.Store { return sstore.NewStore(label.NewStore(), nil) }

// stoppedContainer is a container whose status needs no store.
type stoppedContainer struct{ *criContainer }

func (stoppedContainer) GetStatus() *nri.ContainerStatus {
	return &nri.ContainerStatus{State: api.ContainerState_CONTAINER_STOPPED}
}
