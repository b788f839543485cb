// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// recorded keeps the requests of pods and containers.
type recorded struct {
	runtime.UnimplementedRuntimeServiceServer
	pod       *runtime.RunPodSandboxRequest
	container *runtime.CreateContainerRequest
}

func (r *recorded) RunPodSandbox(_ context.Context, pod *runtime.RunPodSandboxRequest) (*runtime.RunPodSandboxResponse, error) {
	r.pod = pod
	return &runtime.RunPodSandboxResponse{PodSandboxId: "pod"}, nil
}

func (r *recorded) CreateContainer(_ context.Context, container *runtime.CreateContainerRequest) (*runtime.CreateContainerResponse, error) {
	r.container = container
	return nil, status.Error(codes.FailedPrecondition, "no")
}

func (r *recorded) GetContainerEvents(_ *runtime.GetEventsRequest, events grpc.ServerStreamingServer[runtime.ContainerEventResponse]) error {
	for _, id := range []string{"a", "b"} {
		if err := events.Send(&runtime.ContainerEventResponse{ContainerId: id}); err != nil {
			return err
		}
	}
	return nil
}

func TestOwnPIDs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	of, socket := filepath.Join(folder, "a"), filepath.Join(folder, "b")
	listener, err := net.Listen("unix", of)
	require.NoError(t, err)
	r, server := &recorded{}, grpc.NewServer()
	runtime.RegisterRuntimeServiceServer(server, r)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	stop, err := ownPIDs(socket, of)
	require.NoError(t, err)
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	c := runtime.NewRuntimeServiceClient(conn)

	shared, own, node := runtime.NamespaceMode_POD, runtime.NamespaceMode_CONTAINER, runtime.NamespaceMode_NODE
	for asked, want := range map[runtime.NamespaceMode]runtime.NamespaceMode{shared: own, own: own, node: node} {
		namespaces := &runtime.NamespaceOption{Pid: asked, Network: node}
		pod, err := c.RunPodSandbox(t.Context(), &runtime.RunPodSandboxRequest{Config: &runtime.PodSandboxConfig{
			Hostname: "kept",
			Linux:    &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{NamespaceOptions: namespaces}},
		}})
		require.NoError(t, err)
		require.Equal(t, "pod", pod.GetPodSandboxId())
		require.Equal(t, "kept", r.pod.GetConfig().GetHostname())
		got := r.pod.GetConfig().GetLinux().GetSecurityContext().GetNamespaceOptions()
		require.Equal(t, want, got.GetPid())
		require.Equal(t, node, got.GetNetwork())
	}
	_, err = c.RunPodSandbox(t.Context(), &runtime.RunPodSandboxRequest{Config: &runtime.PodSandboxConfig{}})
	require.NoError(t, err)
	require.Equal(t, own, r.pod.GetConfig().GetLinux().GetSecurityContext().GetNamespaceOptions().GetPid())
	_, err = c.CreateContainer(t.Context(), &runtime.CreateContainerRequest{Config: &runtime.ContainerConfig{}})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	require.Equal(t, own, r.container.GetConfig().GetLinux().GetSecurityContext().GetNamespaceOptions().GetPid())

	events, err := c.GetContainerEvents(t.Context(), &runtime.GetEventsRequest{})
	require.NoError(t, err)
	for _, id := range []string{"a", "b"} {
		event, err := events.Recv()
		require.NoError(t, err)
		require.Equal(t, id, event.GetContainerId())
	}
	require.NoError(t, conn.Close())
	require.NoError(t, stop())
}
