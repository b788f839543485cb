// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/adaptation/builtin"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// limited is a plugin that asks for what a test sets.
type limited struct {
	adjust *api.ContainerAdjustment
	update []*api.ContainerUpdate // of each answer that may have updates
}

func (p *limited) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	return p.adjust, nil, nil
}

func (p *limited) UpdateContainer(context.Context, *api.PodSandbox, *api.Container, *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	return p.update, nil
}

func (p *limited) StopContainer(context.Context, *api.PodSandbox, *api.Container) ([]*api.ContainerUpdate, error) {
	return p.update, nil
}

// atSynchronize is a plugin that asks for an update when it joins.
type atSynchronize struct{ limited }

func (p *atSynchronize) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	return p.update, nil
}

// missingRights keeps what plugins had no right to, and the containers that were updated.
type missingRights struct {
	requiredRecord
	mu      sync.Mutex // guards what follows
	missing []string
	updated []string
}

func (m *missingRights) RecordMissingRight(plugin, right string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.missing = append(m.missing, plugin+" "+right)
}

func (m *missingRights) update(_ context.Context, updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range updates {
		m.updated = append(m.updated, u.GetContainerId())
	}
	return nil, nil
}

func (m *missingRights) seen() (missing, updated []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string{}, m.missing...), append([]string{}, m.updated...)
}

// withRights starts an adaptation with rights by plugin, and of all others.
func withRights(t *testing.T, dir string, of map[string][]string, others []string, options ...nri.Option) (*nri.Adaptation, *missingRights) {
	t.Helper()
	record := &missingRights{}
	settings := map[string]nri.PluginSettings{}
	for name, rights := range of {
		settings[name] = nri.PluginSettings{Rights: rights}
	}
	options = append(options, nri.WithPluginPath(filepath.Join(dir, "plugins")), nri.WithSocketPath(filepath.Join(dir, "nri.sock")),
		nri.WithPluginSettings(settings), nri.WithPluginRights(others), nri.WithMetrics(record))
	r, err := nri.New(defaultRuntimeName, defaultRuntimeVersion, lists, record.update, options...)
	require.NoError(t, err)
	require.NoError(t, r.Start())
	t.Cleanup(r.Stop)
	return r, record
}

// joins connects a plugin. It fails if the runtime closes the connection.
func joins(t *testing.T, dir, index, name string, p any) (stub.Stub, error) {
	t.Helper()
	s, err := stub.New(p, stub.WithPluginIdx(index), stub.WithPluginName(name), stub.WithSocketPath(filepath.Join(dir, "nri.sock")),
		stub.WithOnClose(func() {})) // without it the test would exit
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s, s.Start(context.Background())
}

// synchronized fails unless so many plugins are synchronized.
func synchronized(r *nri.Adaptation, plugins int) error {
	n := 0
	for _, p := range r.PluginStatus() {
		if p.Synchronized {
			n++
		}
	}
	if n != plugins {
		return fmt.Errorf("%d plugins are synchronized", n)
	}
	return nil
}

func createContainer(r *nri.Adaptation, id string) (*api.CreateContainerResponse, error) {
	pod := &api.PodSandbox{Id: "pod"}
	return r.CreateContainer(context.Background(), &api.CreateContainerRequest{Pod: pod, Container: &api.Container{Id: id, PodSandboxId: "pod"}})
}

func TestAdjustmentWithoutARightIsAnError(t *testing.T) {
	dir := t.TempDir()
	r, record := withRights(t, dir, map[string][]string{"helper": {"events", "adjust.env"}}, nil)
	p := &limited{adjust: &api.ContainerAdjustment{Env: []*api.KeyValue{{Key: "HELPED", Value: "yes"}}}}
	_, err := joins(t, dir, "90", "helper", p)
	require.NoError(t, err)
	eventually(t, func() error { return synchronized(r, 1) })
	require.NoError(t, runPodIn(r, "default", "pod"))

	response, err := createContainer(r, "allowed")
	require.NoError(t, err)
	require.Equal(t, "HELPED", response.GetAdjust().GetEnv()[0].GetKey())

	p.adjust.Hooks = &api.Hooks{CreateRuntime: []*api.Hook{{Path: "/bin/true"}}}
	p.adjust.Mounts = []*api.Mount{{Source: "/", Destination: "/host"}}
	response, err = createContainer(r, "more")
	require.Nil(t, response, "a part of the answer was applied")
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	require.EqualError(t, err, "CreateContainer rejected: plugin 90-helper has no right to adjust.hooks, adjust.mounts")
	missing, _ := record.seen()
	require.Equal(t, []string{"helper adjust.hooks", "helper adjust.mounts"}, missing)
}

func TestSubscriptionWithoutARightIsRejected(t *testing.T) {
	dir := t.TempDir()
	r, record := withRights(t, dir, map[string][]string{"helper": {"events.CreateContainer", "events.UpdateContainer"}}, nil)
	_, _ = joins(t, dir, "90", "helper", &limited{})
	require.Eventually(t, func() bool { missing, _ := record.seen(); return len(missing) > 0 }, soon, time.Millisecond)
	missing, _ := record.seen()
	require.Equal(t, []string{"helper events.StopContainer"}, missing)
	require.NoError(t, runPodIn(r, "default", "pod"))
	require.Empty(t, r.PluginStatus())
}

func TestUpdatesWithoutARightAreNotApplied(t *testing.T) {
	dir := t.TempDir()
	r, record := withRights(t, dir, map[string][]string{"helper": {"events"}, "trusted": {"events", "update"}}, nil)
	another := []*api.ContainerUpdate{{ContainerId: "another"}}
	s, err := joins(t, dir, "90", "helper", &limited{update: another})
	require.NoError(t, err)
	trusted, err := joins(t, dir, "10", "trusted", &limited{})
	require.NoError(t, err)
	_, _ = joins(t, dir, "20", "helper", &atSynchronize{limited{update: another}})
	eventually(t, func() error { return synchronized(r, 2) })

	_, err = s.UpdateContainers(another)
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	require.NoError(t, runPodIn(r, "default", "pod"))
	_, err = createContainer(r, "ctr")
	require.NoError(t, err)
	_, err = r.UpdateContainer(context.Background(), &api.UpdateContainerRequest{Pod: &api.PodSandbox{Id: "pod"}, Container: &api.Container{Id: "ctr", PodSandboxId: "pod"}})
	require.EqualError(t, err, "UpdateContainer rejected: plugin 90-helper has no right to update")
	response, err := r.StopContainer(context.Background(), &api.StopContainerRequest{Pod: &api.PodSandbox{Id: "pod"}, Container: &api.Container{Id: "ctr", PodSandboxId: "pod"}})
	require.ErrorContains(t, err, "plugin 90-helper has no right to update")
	require.Empty(t, response.GetUpdate())

	_, err = trusted.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "own"}})
	require.NoError(t, err)
	require.Eventually(t, func() bool { missing, _ := record.seen(); return len(missing) == 4 }, soon, time.Millisecond)
	missing, updated := record.seen()
	require.ElementsMatch(t, []string{"helper update", "helper update", "helper update", "helper update"}, missing)
	require.Equal(t, []string{"own"}, updated)
}

// The name with the index comes before the name alone, and that before all others.
func TestRightsByName(t *testing.T) {
	dir := t.TempDir()
	r, record := withRights(t, dir, map[string][]string{"10-free": {"events"}, "free": {"events.RunPodSandbox"}, "empty": nil}, []string{"none"})
	for _, plugin := range []struct{ index, name string }{{"10", "free"}, {"20", "free"}, {"10", "empty"}, {"10", "other"}} {
		_, _ = joins(t, dir, plugin.index, plugin.name, &limited{})
	}
	require.Eventually(t, func() bool { missing, _ := record.seen(); return len(missing) == 9 }, soon, time.Millisecond)
	eventually(t, func() error { return synchronized(r, 1) })
	require.Equal(t, "10-free", r.PluginStatus()[0].Name)
}

// impatient is a plugin that asks for an update while it is configured.
type impatient struct {
	limited
	stub stub.Stub
	err  chan error
}

func (p *impatient) Configure(context.Context, string, string, string) (api.EventMask, error) {
	_, err := p.stub.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "another"}})
	p.err <- err
	return 0, nil
}

// Nothing is served to a plugin before its subscription was compared with its rights.
func TestNoUpdatesBeforeTheSubscription(t *testing.T) {
	dir := t.TempDir()
	_, record := withRights(t, dir, map[string][]string{"early": {"events.CreateContainer", "update"}}, nil)
	p := &impatient{err: make(chan error, 1)}
	s, err := stub.New(p, stub.WithPluginIdx("10"), stub.WithPluginName("early"), stub.WithSocketPath(filepath.Join(dir, "nri.sock")), stub.WithOnClose(func() {}))
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	p.stub = s
	_ = s.Start(context.Background())
	require.Equal(t, codes.FailedPrecondition, status.Code(<-p.err))
	_, updated := record.seen()
	require.Empty(t, updated)
}

// A plugin that is built in is a part of the runtime, and is not limited.
func TestRightsDoNotLimitABuiltinPlugin(t *testing.T) {
	adjust := &api.ContainerAdjustment{Env: []*api.KeyValue{{Key: "OWN", Value: "yes"}}}
	own := &builtin.BuiltinPlugin{Base: "own", Index: "00", Handlers: builtin.BuiltinHandlers{
		CreateContainer: func(context.Context, *api.CreateContainerRequest) (*api.CreateContainerResponse, error) {
			return &api.CreateContainerResponse{Adjust: adjust}, nil
		},
	}}
	r, record := withRights(t, t.TempDir(), nil, []string{"none"}, nri.WithBuiltinPlugins(own))
	require.NoError(t, runPodIn(r, "default", "pod"))
	response, err := createContainer(r, "ctr")
	require.NoError(t, err)
	require.Len(t, response.GetAdjust().GetEnv(), 1)
	missing, _ := record.seen()
	require.Empty(t, missing)
	require.Empty(t, r.PluginStatus()[0].Rights)
}
