// SPDX-License-Identifier: Apache-2.0

package server

import (
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
	shared := &specs.Spec{
		Linux:  &specs.Linux{Namespaces: namespaces},
		Mounts: []specs.Mount{{Source: "/pod/hosts", Destination: etcHosts}},
	}
	whole := answer(shared)
	require.Equal(t, shared, sharedOf(t.Context(), "shim", whole))

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
	files := map[string]string{etcHosts: "/pod/hosts", etcHostname: "/pod/hostname", resolvConfPath: "/pod/resolv.conf", devShm: "/pod/shm"}
	sb.Shared = &specs.Spec{Linux: &specs.Linux{Namespaces: []specs.LinuxNamespace{
		{Type: specs.NetworkNamespace, Path: "/pod/net"}, {Type: specs.IPCNamespace, Path: "/pod/ipc"}, {Type: specs.UTSNamespace, Path: "/pod/uts"},
	}}}
	for destination, source := range files {
		sb.Shared.Mounts = append(sb.Shared.Mounts, specs.Mount{Source: source, Destination: destination})
	}
	require.NoError(t, c.sandboxStore.Add(sb))
	config, sandboxConfig, imageConfig, _ := getCreateContainerTestData()
	config.Mounts = nil
	config.Linux.SecurityContext.NamespaceOptions = &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER}

	spec, err := c.buildContainerSpec(currentPlatform, "container", sb.ID, 0, "", "container", "image", config, sandboxConfig, imageConfig, nil, criconfig.Runtime{}, nil)
	require.NoError(t, err)
	for _, n := range sb.Shared.Linux.Namespaces {
		require.Contains(t, spec.Linux.Namespaces, n)
	}
	sources := map[string]string{}
	for _, m := range spec.Mounts {
		if _, shared := files[m.Destination]; shared {
			sources[m.Destination] = m.Source
		}
	}
	require.Equal(t, files, sources)
}

// Whether a sandbox has a process is known when its shim has answered. After a restart it was created
// when its shim says so, or else when its record says so.
func TestSandboxAfterARestart(t *testing.T) {
	spec, err := typeurl.MarshalAny(&specs.Spec{Linux: &specs.Linux{}})
	require.NoError(t, err)
	recorded, said := time.Unix(7, 0), time.Unix(8, 0)
	for name, tc := range map[string]struct {
		answer  core.ControllerStatus
		without bool
		created time.Time
	}{
		"without a process":   {core.ControllerStatus{State: "SANDBOX_READY", CreatedAt: said}, true, said},
		"with a process":      {core.ControllerStatus{State: "SANDBOX_READY", CreatedAt: said, Pid: 7}, false, said},
		"of an unknown time":  {core.ControllerStatus{State: "SANDBOX_READY", CreatedAt: time.Unix(0, 0)}, true, recorded},
		"that did not answer": {core.ControllerStatus{}, false, recorded},
	} {
		sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{CreatedAt: recorded})
		recoverShared(t.Context(), &sb, core.Sandbox{Sandboxer: "shim", Spec: spec}, tc.answer)
		require.NotNil(t, sb.Shared, name)
		require.Equal(t, tc.without, sb.WithoutProcess, name)
		require.Equal(t, tc.created, sb.Status.Get().CreatedAt, name)
		require.Equal(t, tc.answer.Pid, sb.Status.Get().Pid, name)

		noteShared(t.Context(), &sb, core.ControllerInstance{Spec: spec, Pid: 7})
		require.False(t, sb.WithoutProcess, name)
	}
}
