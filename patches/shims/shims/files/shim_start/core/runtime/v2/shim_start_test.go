// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/pkg/namespaces"
)

func TestWithGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(t.Context())
		ctx, done := withGrace(parent, time.Second)
		defer done()
		cancel()
		time.Sleep(time.Second - 1)
		synctest.Wait()
		require.NoError(t, ctx.Err())
		time.Sleep(1)
		synctest.Wait()
		require.ErrorIs(t, ctx.Err(), context.Canceled)
	})
}

func TestWithGraceEndsWhenDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, done := withGrace(t.Context(), time.Hour)
		done()
		require.ErrorIs(t, ctx.Err(), context.Canceled)
	})
}

// startText is a start command that hangs. A process that it started outlives it and holds its
// output.
const startText = "#!/bin/sh\nsleep 60 & echo $! >pid; wait\n"

// The folder of a shim is deleted if the shim is not found in time, but not while processes of its
// start command may still write to it.
func TestFindStartedEndsWithTheStartCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the start command is a script of a shell")
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "shim")
	require.NoError(t, os.WriteFile(program, []byte(startText), 0o755))
	ctx, cancel := context.WithCancel(namespaces.WithNamespace(t.Context(), "test"))
	defer cancel()
	found := make(chan struct{})
	go func() {
		defer close(found)
		findStarted(ctx, shimBinary(&Bundle{ID: "pod", Path: folder}, shimBinaryConfig{runtime: program}))
	}()
	var text []byte
	require.Eventually(t, func() bool {
		text, _ = os.ReadFile(filepath.Join(folder, "pid"))
		return strings.HasSuffix(string(text), "\n")
	}, time.Minute, time.Millisecond, "it does not run")
	cancel()
	select {
	case <-found:
		require.Fail(t, "a process of the start command still runs")
	case <-time.After(100 * time.Millisecond):
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	process, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.NoError(t, process.Kill())
	select {
	case <-found:
	case <-time.After(startGrace / 2):
		require.Fail(t, "the start command has ended")
	}
}

type oneContainer struct{ containers.Store }

func (oneContainer) Get(_ context.Context, id string) (containers.Container, error) {
	if id != "container" {
		return containers.Container{}, errdefs.ErrNotFound
	}
	return containers.Container{Runtime: containers.RuntimeInfo{Name: "of-container"}}, nil
}

type oneSandbox struct{ sandbox.Store }

func (oneSandbox) Get(_ context.Context, id string) (sandbox.Sandbox, error) {
	if id != "sandbox" {
		return sandbox.Sandbox{}, errdefs.ErrNotFound
	}
	return sandbox.Sandbox{Runtime: sandbox.RuntimeOpts{Name: "of-sandbox"}}, nil
}

// A shim that runs sandboxes is found by its sandbox.
func TestRuntimeOfShim(t *testing.T) {
	m := &ShimManager{containers: oneContainer{}, sandboxStore: oneSandbox{}}
	for _, id := range []string{"container", "sandbox"} {
		found, err := m.runtimeOf(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "of-"+id, found.Name)
	}
	_, err := m.runtimeOf(t.Context(), "neither")
	require.ErrorIs(t, err, errdefs.ErrNotFound)
}
