// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"github.com/stretchr/testify/require"
)

func newRuntime(t *testing.T) *Runtime {
	t.Helper()
	folder, err := os.MkdirTemp("", "nri") // that of a test may be too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	r := NewRuntime(folder)
	t.Cleanup(r.Stop)
	return r
}

// lister is a plugin that fails its first Synchronize, if it should.
type lister struct {
	fails      atomic.Bool
	containers atomic.Int32
}

func (l *lister) Synchronize(_ context.Context, _ []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	if l.fails.Swap(false) {
		return nil, errors.New("not yet")
	}
	l.containers.Store(int32(len(containers)))
	return nil, nil
}

// NRI's stub wants a plugin to have another event.
func (*lister) RunPodSandbox(context.Context, *api.PodSandbox) error { return nil }

func TestRuntimeListsAndUpdates(t *testing.T) {
	r := newRuntime(t)
	require.NoError(t, r.Start())
	r.List(nil, []*api.Container{{Id: "c"}})
	l := &lister{}
	l.fails.Store(true)
	s, err := stub.New(l, stub.WithPluginName("lists"), stub.WithPluginIdx("10"), stub.WithSocketPath(r.Socket()))
	require.NoError(t, err)
	require.NoError(t, s.Start(t.Context()))
	s.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, r.Joined(ctx, 1), context.DeadlineExceeded, "a plugin that fails Synchronize has not joined")

	s, err = stub.New(l, stub.WithPluginName("lists"), stub.WithPluginIdx("10"), stub.WithSocketPath(r.Socket()))
	require.NoError(t, err)
	require.NoError(t, s.Start(t.Context()))
	require.NoError(t, r.Joined(t.Context(), 1))
	require.EqualValues(t, 1, l.containers.Load())
	_, err = s.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "c"}})
	require.ErrorContains(t, err, "unsupported")
	r.OnUpdate(func(updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return updates, nil })
	failed, err := s.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "c"}})
	require.NoError(t, err)
	require.Len(t, failed, 1)
	r.Stop()
	s.Wait()
}

// A runtime that cannot start does not run, and starts later.
func TestRuntimeThatCannotStart(t *testing.T) {
	r := newRuntime(t)
	r.Disconnect()
	for _, name := range []string{"nri.sock", "runtime.sock"} {
		taken := filepath.Join(r.folder, name)
		require.NoError(t, os.MkdirAll(filepath.Join(taken, "full"), 0o700))
		require.Error(t, r.Start(), name)
		require.Nil(t, r.NRI())
		require.NoError(t, os.RemoveAll(taken))
	}
	require.NoError(t, r.Start())
	require.NotNil(t, r.NRI())
	require.Error(t, r.Start(), "it runs")
	r.Stop()
	require.Nil(t, r.NRI())
	require.NoFileExists(t, r.Socket())
}

// The plugins of this machine are not started.
func TestRuntimeHasAFolderOfPlugins(t *testing.T) {
	r := newRuntime(t)
	require.NoError(t, os.MkdirAll(filepath.Join(r.folder, "plugins"), 0o700))
	mark := filepath.Join(r.folder, "mark")
	require.NoError(t, os.WriteFile(filepath.Join(r.folder, "plugins", "10-marks"), []byte("#!/bin/sh\necho > "+mark+"\n"), 0o700))
	_ = r.Start() // the plugin does not register
	require.Eventually(t, func() bool {
		_, err := os.Stat(mark)
		return err == nil
	}, 20*time.Second, time.Millisecond)
}
