// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/adaptation/builtin"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// runtimeWith starts an adaptation whose runtime synchronizes plugins its own way.
func runtimeWith(t *testing.T, dir string, sync nri.SyncFn, opts ...nri.Option) *nri.Adaptation {
	t.Helper()
	opts = append(opts, nri.WithPluginPath(filepath.Join(dir, "plugins")), nri.WithSocketPath(filepath.Join(dir, "nri.sock")))
	r, err := nri.New(defaultRuntimeName, defaultRuntimeVersion, sync,
		func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return nil, nil }, opts...)
	require.NoError(t, err)
	require.NoError(t, r.Start())
	t.Cleanup(r.Stop)
	return r
}

// started connects a plugin for as long as the test runs.
func started(t *testing.T, dir string, p *mockPlugin) {
	t.Helper()
	require.NoError(t, p.Start(dir))
	t.Cleanup(p.Stop)
}

// An adaptation that was stopped does not start again, and returns an error.
func TestStartAfterStop(t *testing.T) {
	r := runtimeWith(t, t.TempDir(), func(context.Context, nri.SyncCB) error { return nil })
	r.Stop()
	require.Error(t, r.Start())
}

// A runtime that calls back twice gets an error. It may ignore the error, and its list
// is used then.
func TestSynchronizeCalledBackTwice(t *testing.T) {
	dir, again := t.TempDir(), make(chan error, 1)
	runtimeWith(t, dir, func(ctx context.Context, cb nri.SyncCB) error {
		if _, err := cb(ctx, nil, nil); err != nil {
			return err
		}
		_, err := cb(ctx, nil, nil)
		again <- err
		return nil
	})
	p := &mockPlugin{idx: "00", name: "logger"}
	started(t, dir, p)
	require.Error(t, <-again)
	require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
}

// lockingRuntime is one that holds a lock of its own around each request, and in
// its SyncFn and UpdateFn, as several do.
type lockingRuntime struct {
	*nri.Adaptation
	lock    sync.Mutex // held across requests; guards what follows
	pods    []*api.PodSandbox
	updated []string
	listing chan struct{} // receives when SyncFn is called
}

func newLockingRuntime(t *testing.T, dir string) *lockingRuntime {
	t.Helper()
	rt := &lockingRuntime{listing: make(chan struct{}, 100)}
	r, err := nri.New(defaultRuntimeName, defaultRuntimeVersion, rt.sync, rt.update,
		nri.WithPluginPath(filepath.Join(dir, "plugins")), nri.WithSocketPath(filepath.Join(dir, "nri.sock")))
	require.NoError(t, err)
	require.NoError(t, r.Start())
	t.Cleanup(r.Stop)
	rt.Adaptation = r
	return rt
}

func (rt *lockingRuntime) sync(ctx context.Context, cb nri.SyncCB) error {
	rt.listing <- struct{}{}
	rt.lock.Lock()
	defer rt.lock.Unlock()
	updates, err := cb(ctx, rt.pods, nil)
	for _, u := range updates {
		rt.updated = append(rt.updated, u.GetContainerId())
	}
	return err
}

func (rt *lockingRuntime) update(_ context.Context, updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
	rt.lock.Lock()
	defer rt.lock.Unlock()
	for _, u := range updates {
		rt.updated = append(rt.updated, u.GetContainerId())
	}
	return nil, nil
}

func (rt *lockingRuntime) run(pod *api.PodSandbox) error {
	defer rt.BlockPluginSync().Unblock()
	rt.lock.Lock()
	defer rt.lock.Unlock()
	err := rt.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: pod})
	if err == nil {
		rt.pods = append(rt.pods, pod)
	}
	return err
}

// A plugin that registers while a request holds the lock finds the pod in its
// Synchronize, and the request does not wait for it.
func TestRuntimeWithALockOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	rt := newLockingRuntime(t, dir)
	first, next := &mockPlugin{idx: "00", name: "first"}, &mockPlugin{idx: "10", name: "next"}
	inHook := make(chan struct{})
	first.runPodSandbox = func(_ *mockPlugin, pod *api.PodSandbox, _ *api.Container) error {
		if pod.GetId() == "pod0" {
			close(inHook)
			<-rt.listing // for next
		}
		return nil
	}
	started(t, dir, first)
	require.NoError(t, first.Wait(PluginSynchronized, time.After(soon)))
	<-rt.listing

	pod := &api.PodSandbox{Id: "pod0", Name: "pod0"}
	ran := make(chan error, 1)
	go func() { ran <- rt.run(pod) }()
	<-inHook
	started(t, dir, next)
	require.NoError(t, <-ran)
	require.NoError(t, next.Wait(PluginSynchronized, time.After(soon)))
	require.Contains(t, next.pods, "pod0")
	require.NoError(t, rt.run(&api.PodSandbox{Id: "pod1", Name: "pod1"}))
	require.NoError(t, next.Wait(PodSandboxEvent(&api.PodSandbox{Id: "pod1", Name: "pod1"}, RunPodSandbox), time.After(soon)))
}

// asking is a plugin that asks for an update when it is synchronized.
type asking struct{ synchronized chan struct{} }

func (p asking) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	close(p.synchronized)
	return []*api.ContainerUpdate{{ContainerId: "first"}}, nil
}

func (p asking) RunPodSandbox(context.Context, *api.PodSandbox) error { return nil }

// Updates that plugins ask for when they are synchronized, and by themselves, are
// applied under the runtime's lock.
func TestLockingRuntimeAppliesUpdates(t *testing.T) {
	dir := t.TempDir()
	rt := newLockingRuntime(t, dir)
	p := asking{synchronized: make(chan struct{})}
	s, err := stub.New(p, stub.WithPluginName("asks"), stub.WithPluginIdx("00"), stub.WithSocketPath(filepath.Join(dir, "nri.sock")))
	require.NoError(t, err)
	require.NoError(t, s.Start(context.Background()))
	t.Cleanup(s.Stop)
	<-p.synchronized
	require.Eventually(t, func() bool {
		rt.lock.Lock()
		defer rt.lock.Unlock()
		return len(rt.updated) == 1
	}, soon, time.Millisecond)
	_, err = s.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "second"}})
	require.NoError(t, err)
	rt.lock.Lock()
	defer rt.lock.Unlock()
	require.Equal(t, []string{"first", "second"}, rt.updated)
}

// The runtime starts also if a builtin plugin fails, if a file is no plugin, or if
// SyncFn fails. The plugin is started again.
func TestRuntimeStartsWhateverFails(t *testing.T) {
	dir := t.TempDir()
	plugins := filepath.Join(dir, "plugins")
	require.NoError(t, os.MkdirAll(plugins, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(plugins, "not a plugin"), nil, 0o700))
	var lists, configured atomic.Int32
	joined := make(chan struct{})
	b := &builtin.BuiltinPlugin{Base: "own", Index: "00", Handlers: builtin.BuiltinHandlers{
		Configure: func(context.Context, *api.ConfigureRequest) (*api.ConfigureResponse, error) {
			if configured.Add(1) == 1 {
				return &api.ConfigureResponse{}, errors.New("not yet")
			}
			return &api.ConfigureResponse{}, nil
		},
		Synchronize: func(context.Context, *api.SynchronizeRequest) (*api.SynchronizeResponse, error) {
			close(joined)
			return &api.SynchronizeResponse{}, nil
		},
	}}
	runtimeWith(t, dir, func(ctx context.Context, cb nri.SyncCB) error {
		if lists.Add(1) == 1 {
			return errors.New("no list yet")
		}
		_, err := cb(ctx, nil, nil)
		return err
	}, nri.WithBuiltinPlugins(b))
	select {
	case <-joined:
	case <-time.After(time.Minute):
		require.FailNow(t, "the builtin plugin did not join")
	}
	require.EqualValues(t, 2, lists.Load())
}
