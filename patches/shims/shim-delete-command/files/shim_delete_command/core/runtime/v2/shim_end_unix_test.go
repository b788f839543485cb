// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package v2

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/emptypb"

	bootapi "github.com/containerd/containerd/api/runtime/bootstrap/v1"
	"github.com/containerd/containerd/api/runtime/task/v3"
	"github.com/containerd/containerd/v2/core/events/exchange"
	"github.com/containerd/containerd/v2/core/runtime"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	client "github.com/containerd/containerd/v2/pkg/shim"
)

// endedShim is the bundle of a task, the delete command of its shim, and a mark that it was run.
type endedShim struct {
	ctx    context.Context
	shims  *runtime.NSMap[ShimInstance]
	bundle *Bundle
	binary *binary
	mark   string
	own    [2]string // the sockets that it created
}

func newEndedShim(t *testing.T, address string) *endedShim {
	t.Helper()
	folder := t.TempDir()
	e := &endedShim{
		ctx:    namespaces.WithNamespace(t.Context(), "one"),
		shims:  runtime.NewNSMap[ShimInstance](),
		bundle: &Bundle{ID: "task", Namespace: "one", Path: filepath.Join(folder, "task")},
		mark:   filepath.Join(folder, "delete-was-run"),
	}
	require.NoError(t, os.MkdirAll(filepath.Join(e.bundle.Path, "rootfs"), 0o700))
	e.boot(t, address)
	program := filepath.Join(folder, "containerd-shim-runc-v2")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n: >'"+e.mark+"'\n"), 0o700))
	e.binary = shimBinary(e.bundle, shimBinaryConfig{runtime: program})
	return e
}

// boot writes the address of the shim.
func (e *endedShim) boot(t *testing.T, address string) {
	t.Helper()
	require.NoError(t, writeBootstrapParams(filepath.Join(e.bundle.Path, "bootstrap.json"),
		&bootapi.BootstrapResult{Version: 3, Protocol: "ttrpc", Address: address}))
}

func (e *endedShim) cleanUp() {
	cleanupAfterDeadShim(e.ctx, "task", e.shims, exchange.NewExchange(), e.binary)
}

// sockets creates the sockets of a shim of its own.
func (e *endedShim) sockets(t *testing.T, folder string) (own, debug string) {
	t.Helper()
	paths := make([]string, 2)
	for i, debug := range []bool{false, true} {
		address, err := client.CreateSocketAddress(e.ctx, folder, e.binary.containerdAddress, "task", debug)
		require.NoError(t, err)
		paths[i] = strings.TrimPrefix(address, "unix://")
		require.NoError(t, os.WriteFile(paths[i], nil, 0o600))
	}
	e.own = [2]string(paths)
	return paths[0], paths[1]
}

// ends removes its sockets a while later, as a shim does after its shutdown.
func (e *endedShim) ends(t *testing.T) {
	t.Helper()
	time.AfterFunc(50*time.Millisecond, func() {
		for _, socket := range e.own {
			assert.NoError(t, client.RemoveSocket("unix://"+socket))
		}
	})
}

func TestDeleteCommandIsForLostShims(t *testing.T) {
	other := func(e *endedShim) {
		renamed := filepath.Join(filepath.Dir(e.binary.runtime), "containerd-shim-other-v1")
		if err := os.Rename(e.binary.runtime, renamed); err == nil {
			e.binary.runtime = renamed
		}
	}
	for name, test := range map[string]struct {
		deleted bool
		change  func(*endedShim)
		address string // another than its own
		run     bool
	}{
		"lost":                         {run: true},
		"deleted":                      {deleted: true, change: func(e *endedShim) { e.ends(t) }},
		"it does not end":              {deleted: true, run: true},
		"another runtime":              {deleted: true, change: other, run: true},
		"the shim of a task before it": {deleted: true, address: "unix:///socket/of/another", run: true},
		"no socket of a file":          {deleted: true, address: "vsock://3:1024", run: true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			e := newEndedShim(t, test.address)
			own, debug := e.sockets(t, folder)
			if test.address == "" {
				e.boot(t, "unix://"+own)
			}
			if test.change != nil {
				test.change(e)
			}
			e.bundle.deleted.Store(test.deleted)
			e.cleanUp()
			if test.run {
				assert.FileExists(t, e.mark)
				assert.FileExists(t, own, "the shim removes it")
				return
			}
			assert.NoFileExists(t, e.mark)
			assert.NoFileExists(t, own)
			assert.NoFileExists(t, debug)
			assert.NoDirExists(t, e.bundle.Path)
		})
	}
}

// A shim that goes on keeps its sockets.
func TestShimThatServesOthersKeepsItsSockets(t *testing.T) {
	e := newEndedShim(t, "unix:///shared/socket")
	other := &shim{bundle: &Bundle{ID: "other", Namespace: "one"}, address: "ttrpc+unix:///shared/socket"}
	require.NoError(t, e.shims.Add(e.ctx, other))
	assert.True(t, servesOthers(e.ctx, "task", e.shims, "unix:///shared/socket"))
	assert.False(t, servesOthers(e.ctx, "other", e.shims, "unix:///shared/socket"), "it is the last")
	assert.False(t, servesOthers(e.ctx, "task", e.shims, "unix:///socket/of/its/own"))
	e.bundle.deleted.Store(true)
	e.cleanUp()
	assert.NoFileExists(t, e.mark)
}

func TestShimIsDeletedIfItHasAnsweredBoth(t *testing.T) {
	lost := errors.New("lost")
	for name, test := range map[string]struct {
		deletion, shutdown error
		deleted            bool
	}{
		"both":        {nil, nil, true},
		"no deletion": {lost, nil, false},
		"no shutdown": {nil, lost, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndedShim(t, "unix:///no/listener")
			instance := &shim{bundle: e.bundle}
			s := &shimTask{ShimInstance: instance, task: shutdowns{err: test.shutdown}}
			err := s.shutDownAfter(e.ctx, test.deletion)
			assert.Equal(t, test.shutdown != nil, err != nil)
			assert.Equal(t, test.deleted, e.bundle.deleted.Load())
		})
	}
}

// shutdowns answers the shutdown of a shim.
type shutdowns struct {
	TaskServiceClient
	err error
}

func (s shutdowns) Shutdown(context.Context, *task.ShutdownRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.err
}

// If a shim writes a file while its bundle is removed, the next removal removes the file.
func TestBundleIsRemovedThoughAFileCame(t *testing.T) {
	e := newEndedShim(t, "unix:///no/listener")
	hidden := filepath.Join(filepath.Dir(e.bundle.Path), "."+filepath.Base(e.bundle.Path))
	require.NoError(t, os.Rename(e.bundle.Path, hidden))
	require.NoError(t, os.WriteFile(filepath.Join(hidden, "came"), nil, 0o600))
	require.NoError(t, e.bundle.Delete())
	assert.NoDirExists(t, hidden)
}
