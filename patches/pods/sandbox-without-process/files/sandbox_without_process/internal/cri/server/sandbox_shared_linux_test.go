// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/typeurl/v2"
	"github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/anypb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	core "github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	ostesting "github.com/containerd/containerd/v2/pkg/os/testing"
)

// A shim's specification says what containers share. containerd's own, and one of a virtual machine,
// says nothing that concerns them.
func TestSharedOf(t *testing.T) {
	namespaces := []specs.LinuxNamespace{{Type: specs.IPCNamespace, Path: "/pinned/ipc"}}
	answer := func(spec *specs.Spec) typeurl.Any {
		marshaled, err := typeurl.MarshalAny(spec)
		require.NoError(t, err)
		return marshaled
	}
	whole := answer(&specs.Spec{
		Linux:  &specs.Linux{Namespaces: namespaces},
		Mounts: []specs.Mount{{Source: "/pod/hosts", Destination: etcHosts}},
	})
	require.Equal(t, &sandboxstore.Shared{Namespaces: namespaces, Files: map[string]string{etcHosts: "/pod/hosts"}}, sharedOf(t.Context(), "shim", whole))

	require.Nil(t, sharedOf(t.Context(), string(criconfig.ModePodSandbox), whole))
	require.Nil(t, sharedOf(t.Context(), "shim", nil))
	require.Nil(t, sharedOf(t.Context(), "shim", answer(&specs.Spec{})))
	require.Nil(t, sharedOf(t.Context(), "shim", &anypb.Any{TypeUrl: whole.GetTypeUrl(), Value: []byte("{")}))
}

// The containers of a sandbox without a process join its namespaces and mount its files.
func TestContainerOfASandboxWithoutProcess(t *testing.T) {
	c := newTestCRIService()
	c.os.(*ostesting.FakeOS).StatFn = func(path string) (os.FileInfo, error) {
		if filepath.Dir(path) == "/pod" {
			return nil, nil // all that the shim has made exists
		}
		return nil, os.ErrNotExist
	}
	sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "sandbox", Name: "sandbox"}, sandboxstore.Status{})
	sb.Shared = &sandboxstore.Shared{
		Namespaces: []specs.LinuxNamespace{
			{Type: specs.NetworkNamespace, Path: "/pod/net"}, {Type: specs.IPCNamespace, Path: "/pod/ipc"}, {Type: specs.UTSNamespace, Path: "/pod/uts"},
		},
		Files: map[string]string{etcHosts: "/pod/hosts", etcHostname: "/pod/hostname", resolvConfPath: "/pod/resolv.conf", devShm: "/pod/shm"},
	}
	require.NoError(t, c.sandboxStore.Add(sb))
	config, sandboxConfig, imageConfig, _ := getCreateContainerTestData()
	config.Mounts = nil
	config.Linux.SecurityContext.NamespaceOptions = &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER}

	spec, err := c.buildContainerSpec(currentPlatform, "container", sb.ID, 0, "", "container", "image", config, sandboxConfig, imageConfig, nil, criconfig.Runtime{}, nil)
	require.NoError(t, err)
	for _, n := range sb.Shared.Namespaces {
		require.Contains(t, spec.Linux.Namespaces, n)
	}
	sources := map[string]string{}
	for _, m := range spec.Mounts {
		if _, shared := sb.Shared.Files[m.Destination]; shared {
			sources[m.Destination] = m.Source
		}
	}
	require.Equal(t, sb.Shared.Files, sources)
}

// The controller is asked about a sandbox that has a process, and for a verbose status.
func TestStatusOfSandboxWithoutProcess(t *testing.T) {
	c := newTestCRIService()
	asked := 0
	c.sandboxService = &statusOnly{status: func() { asked++ }}
	made := time.Now()
	sandbox := func(pid uint32, state sandboxstore.State, shared *sandboxstore.Shared) sandboxstore.Sandbox {
		sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "sandbox"}, sandboxstore.Status{Pid: pid, State: state, CreatedAt: made})
		sb.Shared = shared
		return sb
	}
	shared := &sandboxstore.Shared{}
	for state, shown := range map[sandboxstore.State]runtime.PodSandboxState{
		sandboxstore.StateReady: runtime.PodSandboxState_SANDBOX_READY, sandboxstore.StateNotReady: runtime.PodSandboxState_SANDBOX_NOTREADY,
	} {
		got, err := c.controllerStatus(t.Context(), sandbox(0, state, shared), false)
		require.NoError(t, err)
		require.Equal(t, core.ControllerStatus{SandboxID: "sandbox", State: shown.String(), CreatedAt: made}, got)
	}
	require.Zero(t, asked)

	for times, of := range []struct {
		sandbox sandboxstore.Sandbox
		verbose bool
	}{
		{sandbox(7, sandboxstore.StateReady, shared), false},
		{sandbox(0, sandboxstore.StateReady, nil), false},
		{sandbox(0, sandboxstore.StateReady, shared), true},
	} {
		_, err := c.controllerStatus(t.Context(), of.sandbox, of.verbose)
		require.NoError(t, err)
		require.Equal(t, times+1, asked)
	}
}

// statusOnly is a controller that is asked for status.
type statusOnly struct {
	sandboxService
	status func()
}

func (s *statusOnly) SandboxStatus(context.Context, string, string, bool) (core.ControllerStatus, error) {
	s.status()
	return core.ControllerStatus{}, nil
}
