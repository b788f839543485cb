// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
)

// earlier is a node with a pod from before a restart. Domains stay registered, so each run
// of the test has a name of its own.
type earlier struct {
	nri.Domain
	name string

	mu   sync.Mutex // guards what follows
	pods []nri.PodSandbox
}

func (e *earlier) GetName() string                 { return e.name }
func (e *earlier) ListContainers() []nri.Container { return nil }

func (e *earlier) GetContainer(string) (nri.Container, bool) { return nil, false }

func (e *earlier) ListPodSandboxes() []nri.PodSandbox {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.pods
}

func (e *earlier) set(pods ...nri.PodSandbox) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pods = pods
}

// lister is a plugin that notes the pods that it receives.
type lister struct {
	synchronized chan struct{}

	mu       sync.Mutex // guards what follows
	received []string
}

func (p *lister) Synchronize(_ context.Context, pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	for _, pod := range pods {
		p.hears("list " + pod.GetId())
	}
	close(p.synchronized)
	return nil, nil
}

func (p *lister) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	p.hears("stop " + pod.GetId())
	return nil
}

func (p *lister) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	p.hears("remove " + pod.GetId())
	return nil
}

func (p *lister) hears(event string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, event)
}

func (p *lister) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.received)
}

// newPlugins returns NRI for a node of the test's own, and a function that connects a plugin.
func newPlugins(t *testing.T) (plugins nri.API, connect func(name string, plugin any)) {
	t.Helper()
	dir, config := t.TempDir(), nri.DefaultConfig()
	config.SocketPath, config.PluginPath = filepath.Join(dir, "nri.sock"), filepath.Join(dir, "plugins")
	plugins, err := nri.New(config, nil)
	require.NoError(t, err)
	return plugins, func(name string, plugin any) {
		t.Helper()
		s, err := stub.New(plugin, stub.WithPluginName(name), stub.WithPluginIdx("10"), stub.WithSocketPath(config.SocketPath))
		require.NoError(t, err)
		require.NoError(t, s.Start(t.Context()))
		t.Cleanup(s.Stop)
	}
}

// Plugins that received a pod from before a restart in Synchronize receive its end, once.
func TestPodFromBeforeARestartEndsForPlugins(t *testing.T) {
	ctx := t.Context()
	plugins, connect := newPlugins(t)
	sandbox := sstore.NewSandbox(sstore.Metadata{ID: "pod"}, sstore.Status{})
	pod := &criPodSandbox{Sandbox: &sandbox, spec: &runtimespec.Spec{}}
	node := &earlier{name: fmt.Sprint(t.Name(), time.Now().UnixNano())}
	node.set(pod)
	t.Cleanup(func() { node.set() })
	nri.RegisterDomain(node)
	require.NoError(t, plugins.Start())
	t.Cleanup(plugins.Stop)

	plugin := &lister{synchronized: make(chan struct{})}
	connect("lister", plugin)
	select {
	case <-plugin.synchronized:
	case <-time.After(time.Minute):
		require.Fail(t, "the plugin is not synchronized")
	}

	for range 2 {
		require.NoError(t, plugins.StopPodSandbox(ctx, pod))
		require.NoError(t, plugins.RemovePodSandbox(ctx, pod))
	}
	want := []string{"list pod", "stop pod", "remove pod"}
	// Events that come during Synchronize are delivered after it.
	require.Eventually(t, func() bool { return len(plugin.heard()) >= len(want) }, time.Minute, time.Millisecond)
	require.Equal(t, want, plugin.heard())
}
