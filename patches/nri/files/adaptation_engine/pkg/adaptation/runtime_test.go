// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
)

// runtimeWith starts an adaptation whose runtime synchronizes plugins its own way.
func runtimeWith(t *testing.T, dir string, sync nri.SyncFn) *nri.Adaptation {
	t.Helper()
	r, err := nri.New(defaultRuntimeName, defaultRuntimeVersion, sync,
		func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return nil, nil },
		nri.WithPluginPath(filepath.Join(dir, "plugins")), nri.WithSocketPath(filepath.Join(dir, "nri.sock")))
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

// What is stopped stays stopped, and says so.
func TestStartAfterStop(t *testing.T) {
	r := runtimeWith(t, t.TempDir(), func(context.Context, nri.SyncCB) error { return nil })
	r.Stop()
	require.Error(t, r.Start())
}

// A runtime that calls back more than once hurts nobody.
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
	p := &mockPlugin{idx: "00", name: "told"}
	started(t, dir, p)
	require.Error(t, <-again)
	require.NoError(t, p.Wait(PluginSynchronized, time.After(startupTimeout)))
}

// A runtime may hold a lock across its requests that its SyncFn takes too. The
// plugin that joins is lost to it then, the request and the next plugin not.
func TestRuntimeWithALockOfItsOwn(t *testing.T) {
	nri.SetPluginSyncTimeout(200 * time.Millisecond)
	t.Cleanup(func() { nri.SetPluginSyncTimeout(0) })
	var (
		dir     = t.TempDir()
		mu      sync.Mutex
		listing = make(chan struct{}, 1)
	)
	r := runtimeWith(t, dir, func(ctx context.Context, cb nri.SyncCB) error {
		select {
		case listing <- struct{}{}:
		default:
		}
		mu.Lock()
		defer mu.Unlock()
		_, err := cb(ctx, nil, nil)
		return err
	})

	mu.Lock()
	lost := &mockPlugin{idx: "00", name: "lost"}
	started(t, dir, lost)
	<-listing
	err := r.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod0"}})
	mu.Unlock()
	require.NoError(t, err)

	next := &mockPlugin{idx: "10", name: "next"}
	started(t, dir, next)
	require.NoError(t, next.Wait(PluginSynchronized, time.After(startupTimeout)))
}
