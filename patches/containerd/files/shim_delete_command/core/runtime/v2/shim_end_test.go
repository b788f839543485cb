// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
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
)

// endedShim is the bundle of a task, the delete command of its shim, and whether that was run.
type endedShim struct {
	ctx    context.Context
	shims  *runtime.NSMap[ShimInstance]
	bundle *Bundle
	binary *binary
	mark   string
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
	require.NoError(t, writeBootstrapParams(filepath.Join(e.bundle.Path, "bootstrap.json"),
		&bootapi.BootstrapResult{Version: 3, Protocol: "ttrpc", Address: address}))
	program := filepath.Join(folder, "shim")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n: >'"+e.mark+"'\n"), 0o700))
	e.binary = shimBinary(e.bundle, shimBinaryConfig{runtime: program})
	return e
}

func (e *endedShim) cleanUp() {
	cleanupAfterDeadShim(e.ctx, "task", e.shims, exchange.NewExchange(), e.binary)
}

func TestDeleteCommandIsForLostShims(t *testing.T) {
	for name, deleted := range map[string]bool{"lost": false, "deleted": true} {
		t.Run(name, func(t *testing.T) {
			e := newEndedShim(t, "unix:///nobody/listens")
			e.bundle.deleted.Store(deleted)
			e.cleanUp()
			if deleted {
				assert.NoFileExists(t, e.mark)
				return
			}
			assert.FileExists(t, e.mark)
		})
	}
}

// The shim finds the folder of its sockets in its bundle.
func TestBundleIsKeptUntilItsShimHasEnded(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	e := newEndedShim(t, "unix://"+socket)
	e.bundle.deleted.Store(true)
	cleaned := make(chan struct{})
	go func() {
		defer close(cleaned)
		e.cleanUp()
	}()
	conn, err := listener.Accept()
	require.NoError(t, err)
	select {
	case <-cleaned:
		assert.Fail(t, "the shim is still there")
	default:
	}
	require.NoError(t, conn.Close())
	select {
	case <-cleaned:
	case <-time.After(time.Minute):
		require.Fail(t, "the shim has ended")
	}
	require.NoError(t, listener.Close())
}

// A connection that nobody takes would be waited for in vain.
func TestShimThatServesOthersIsNotAwaited(t *testing.T) {
	e := newEndedShim(t, "unix:///shared/socket")
	other := &shim{bundle: &Bundle{ID: "other", Namespace: "one"}, address: "ttrpc+unix:///shared/socket"}
	require.NoError(t, e.shims.Add(e.ctx, other))
	assert.True(t, servesOthers(e.ctx, "task", e.shims, "unix:///shared/socket"))
	assert.False(t, servesOthers(e.ctx, "other", e.shims, "unix:///shared/socket"), "it is the last")
	assert.False(t, servesOthers(e.ctx, "task", e.shims, "unix:///socket/of/its/own"))
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
			e := newEndedShim(t, "unix:///nobody/listens")
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
