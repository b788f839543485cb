// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	api "github.com/containerd/containerd/api/runtime/sandbox/v1"
	"github.com/containerd/typeurl/v2"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// netns mounts a new network namespace, and returns its path.
func netns(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	path := filepath.Join(t.TempDir(), "net")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		return unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, "")
	}))
	t.Cleanup(func() { require.NoError(t, unmount(path)) })
	return path
}

// run creates and starts the sandbox of a pod.
func run(t *testing.T, config *cri.PodSandboxConfig, netns string) (*Service, string, *specs.Spec) {
	t.Helper()
	bundle, disk := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(disk, filepath.Join(bundle, "work")))
	s := New(func() {})
	t.Cleanup(func() {
		_, err := s.StopSandbox(t.Context(), nil)
		require.NoError(t, err)
	})
	value, err := proto.Marshal(config)
	require.NoError(t, err)
	_, err = s.CreateSandbox(t.Context(), &api.CreateSandboxRequest{
		SandboxID: "pod", BundlePath: bundle, NetnsPath: netns, Options: &anypb.Any{Value: value},
	})
	require.NoError(t, err)
	r, err := s.StartSandbox(t.Context(), &api.StartSandboxRequest{SandboxID: "pod"})
	require.NoError(t, err)
	require.Zero(t, r.GetPid())
	spec, err := typeurl.UnmarshalAny(r.GetSpec())
	require.NoError(t, err)
	return s, bundle, spec.(*specs.Spec)
}

func mounted(t *testing.T, below string) (paths []string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	for line := range strings.Lines(string(mounts)) {
		if path := strings.Fields(line)[4]; strings.HasPrefix(path, below) {
			paths = append(paths, path)
		}
	}
	return paths
}

func TestSandboxHasItsNamespaces(t *testing.T) {
	s, bundle, spec := run(t, &cri.PodSandboxConfig{
		Hostname: "a-pod",
		Linux: &cri.LinuxPodSandboxConfig{
			Sysctls: map[string]string{
				"kernel.shmmax": "4096", "net.ipv4.ip_unprivileged_port_start": "99", "net/ipv4/conf/lo/forwarding": "1",
			},
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: &cri.NamespaceOption{Pid: cri.NamespaceMode_CONTAINER}},
		},
	}, netns(t))
	nodes, err := os.ReadFile("/proc/sys/kernel/shmmax")
	require.NoError(t, err)
	own, err := os.Readlink("/proc/self/ns/uts")
	require.NoError(t, err)

	require.Equal(t, specs.Version, spec.Version)
	require.Equal(t, "a-pod", spec.Hostname)
	require.Equal(t, "99", spec.Linux.Sysctl["net.ipv4.ip_unprivileged_port_start"])
	require.Len(t, spec.Linux.Namespaces, 3)
	require.NoError(t, enter(spec.Linux.Namespaces, func() error {
		for path, value := range map[string]string{
			"kernel/hostname": "a-pod", "kernel/shmmax": "4096",
			"net/ipv4/ip_unprivileged_port_start": "99", "net/ipv4/conf/lo/forwarding": "1",
		} {
			got, err := os.ReadFile(filepath.Join("/proc/sys", path))
			require.NoError(t, err)
			require.Equal(t, value, strings.TrimSpace(string(got)), path)
		}
		return nil
	}))
	still, err := os.ReadFile("/proc/sys/kernel/shmmax")
	require.NoError(t, err)
	require.Equal(t, nodes, still)
	stays, err := os.Readlink("/proc/self/ns/uts")
	require.NoError(t, err)
	require.Equal(t, own, stays, "the namespace of the process")

	metrics, err := s.SandboxMetrics(t.Context(), &api.SandboxMetricsRequest{SandboxID: "pod"})
	require.NoError(t, err)
	require.Equal(t, "pod", metrics.GetMetrics().GetID())
	require.NotEmpty(t, metrics.GetMetrics().GetData().GetTypeUrl())

	disk, err := filepath.EvalSymlinks(filepath.Join(bundle, "work"))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(disk, "hostname"), spec.Mounts[0].Source, "not in memory")
	require.ElementsMatch(t, []string{bundle + "/ns/ipc", bundle + "/ns/uts", bundle + "/shm"}, mounted(t, bundle))
	for range 2 {
		_, err = s.StopSandbox(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, mounted(t, bundle))
	}
	status, err := s.SandboxStatus(t.Context(), &api.SandboxStatusRequest{SandboxID: "pod"})
	require.NoError(t, err)
	require.Equal(t, cri.PodSandboxState_SANDBOX_NOTREADY.String(), status.GetState())
	for name, again := range map[string]func() error{
		"create": func() error {
			_, err := s.CreateSandbox(t.Context(), &api.CreateSandboxRequest{SandboxID: "pod"})
			return err
		},
		"start": func() error {
			_, err := s.StartSandbox(t.Context(), &api.StartSandboxRequest{SandboxID: "pod"})
			return err
		},
	} {
		require.Error(t, again(), name)
		require.Empty(t, mounted(t, bundle), name)
	}
	ended, err := s.WaitSandbox(t.Context(), &api.WaitSandboxRequest{SandboxID: "pod"})
	require.NoError(t, err)
	require.Equal(t, status.GetExitedAt().AsTime(), ended.GetExitedAt().AsTime())
}

func TestPodHasNoHostnameOfItsOwnOnItsNode(t *testing.T) {
	_, err := newPod(t.TempDir(), "", config{hostname: "own", network: ofNode, pid: 1})
	require.ErrorIs(t, err, errHostname)
	_, err = newPod(t.TempDir(), "", config{network: ofNode, pid: 1})
	require.NoError(t, err)
}

// A shim that was shut down makes nothing more: the request to create its sandbox may come late.
func TestSandboxIsNotCreatedInAShimThatEnds(t *testing.T) {
	s := New(func() {})
	_, err := s.ShutdownSandbox(t.Context(), nil)
	require.NoError(t, err)
	config, err := proto.Marshal(&cri.PodSandboxConfig{Linux: &cri.LinuxPodSandboxConfig{
		SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: &cri.NamespaceOption{Pid: cri.NamespaceMode_CONTAINER}},
	}})
	require.NoError(t, err)
	_, err = s.CreateSandbox(t.Context(), &api.CreateSandboxRequest{SandboxID: "pod", BundlePath: t.TempDir(), Options: &anypb.Any{Value: config}})
	require.ErrorContains(t, err, "shutting down")
}
