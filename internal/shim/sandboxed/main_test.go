// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	sandboxapi "github.com/containerd/containerd/api/runtime/sandbox/v1"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/shim"
	"github.com/containerd/containerd/v2/pkg/shutdown"
	"github.com/moby/sys/mountinfo"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/internal/shim/sandbox"
)

// counted counts how often a shim is shut down.
type counted struct {
	shutdown.Service
	times int
}

func (c *counted) Shutdown() { c.times++ }

// A shim ends with its last container only if it has no sandbox.
func TestShimLastsAsLongAsItsSandbox(t *testing.T) {
	end := &counted{}
	s := sandbox.New(end.Shutdown)
	l := lasting{end, s}
	l.Shutdown()
	require.Equal(t, 1, end.times)

	all := cri.NamespaceMode_NODE // nothing to mount
	config, err := proto.Marshal(&cri.PodSandboxConfig{Linux: &cri.LinuxPodSandboxConfig{
		SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: &cri.NamespaceOption{Network: all, Pid: all, Ipc: all}},
	}})
	require.NoError(t, err)
	bundle := t.TempDir()
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(bundle, "work")))
	_, err = s.CreateSandbox(t.Context(), &sandboxapi.CreateSandboxRequest{
		SandboxID: "pod", BundlePath: bundle, Options: &anypb.Any{Value: config},
	})
	require.NoError(t, err)
	l.Shutdown()
	require.Equal(t, 1, end.times)
	_, err = s.ShutdownSandbox(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, 2, end.times)
}

// deleted notes the containers for which runc's own command is called.
type deleted struct {
	shim.Shim
	ids []string
}

func (d *deleted) Stop(_ context.Context, id string) (shim.StopStatus, error) {
	d.ids = append(d.ids, id)
	return shim.StopStatus{Pid: 7}, nil
}

// containerd's address is a flag of all commands.
var _ = flag.String("address", "/run/containerd.sock", "")

// The delete command removes the mounts and sockets of a lost shim. A container is runc's.
func TestDeleteAfterALoss(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	containers := &deleted{}
	c := commands{containers}
	t.Chdir(t.TempDir())
	status, err := c.Stop(t.Context(), "container")
	require.NoError(t, err)
	require.Equal(t, 7, status.Pid)

	bundle := t.TempDir()
	t.Chdir(bundle)
	require.NoError(t, os.WriteFile("config.json", []byte("{}"), 0o600))
	require.NoError(t, os.Mkdir("shm", 0o700))
	require.NoError(t, unix.Mount("shm", "shm", "tmpfs", 0, ""))
	require.NoError(t, os.Symlink(t.TempDir(), "s"))
	folder, err := os.Readlink("s")
	require.NoError(t, err)
	ctx := namespaces.WithNamespace(t.Context(), "k8s.io")
	for _, debug := range []bool{false, true} {
		address, err := shim.CreateSocketAddress(ctx, folder, "/run/containerd.sock", "pod", debug)
		require.NoError(t, err)
		socket, err := shim.NewSocket(address)
		require.NoError(t, err)
		socket.SetUnlinkOnClose(false)
		require.NoError(t, socket.Close())
	}
	sockets, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, sockets, 2)

	for range 2 {
		status, err = c.Stop(ctx, "pod")
		require.NoError(t, err)
		require.Equal(t, 137, status.ExitStatus)
		mounted, err := mountinfo.Mounted(filepath.Join(bundle, "shm"))
		require.NoError(t, err)
		require.False(t, mounted)
		sockets, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, sockets)
	}
	require.Equal(t, []string{"container"}, containers.ids)
}
