// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/metadata"
	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/nri"
	"github.com/containerd/containerd/v2/internal/cri/util"
	"github.com/containerd/containerd/v2/internal/eventq"
	corenri "github.com/containerd/containerd/v2/internal/nri"
)

// inHook is a node with one sandbox, and with plugins whose hook the test sets.
type inHook struct {
	fakeSandboxService
	corenri.API
	exit  chan containerd.ExitStatus
	hook  func() error
	waits context.Context // of the wait for the sandbox
}

func (*inHook) CreateSandbox(context.Context, sandbox.Sandbox, ...sandbox.CreateOpt) error {
	return nil
}

func (*inHook) StartSandbox(_ context.Context, _, id string) (sandbox.ControllerInstance, error) {
	return sandbox.ControllerInstance{SandboxID: id}, nil
}

func (n *inHook) WaitSandbox(ctx context.Context, _, _ string) (<-chan containerd.ExitStatus, error) {
	n.waits = ctx
	return n.exit, nil
}

func (*inHook) StopSandbox(context.Context, string, string, ...sandbox.StopOpt) error { return nil }
func (*inHook) ShutdownSandbox(context.Context, string, string) error                 { return nil }

func (*inHook) IsEnabled() bool                                            { return true }
func (*inHook) BlockPluginSync() *corenri.PluginSyncBlock                  { return nil }
func (n *inHook) RunPodSandbox(context.Context, corenri.PodSandbox) error  { return n.hook() }
func (*inHook) StopPodSandbox(context.Context, corenri.PodSandbox) error   { return nil }
func (*inHook) RemovePodSandbox(context.Context, corenri.PodSandbox) error { return nil }

// A sandbox that dies during its hook does not become ready, and the wait for a failed one ends.
func TestSandboxThatExitsInItsHookFails(t *testing.T) {
	rejected := errors.New("rejected")
	for says, hook := range map[string]func(chan containerd.ExitStatus) error{
		"exited with status 137": func(exit chan containerd.ExitStatus) error {
			exit <- *containerd.NewExitStatus(137, time.Now(), nil)
			return nil
		},
		"shim is gone": func(exit chan containerd.ExitStatus) error {
			exit <- *containerd.NewExitStatus(0, time.Now(), errors.New("shim is gone"))
			return nil
		},
		"rejected": func(chan containerd.ExitStatus) error { return rejected },
	} {
		t.Run(says, func(t *testing.T) {
			db, err := bolt.Open(filepath.Join(t.TempDir(), "meta.db"), 0o600, nil)
			require.NoError(t, err)
			t.Cleanup(func() { _ = db.Close() })
			meta := metadata.NewDB(db, nil, nil)
			client, err := containerd.New("", containerd.WithServices(
				containerd.WithSandboxStore(metadata.NewSandboxStore(meta)), containerd.WithLeasesService(metadata.NewLeaseManager(meta))))
			require.NoError(t, err)
			n := &inHook{exit: make(chan containerd.ExitStatus, 1)}
			n.hook = func() error { return hook(n.exit) }
			c := newTestCRIService()
			c.client, c.sandboxService, c.ImageService = client, n, pauseImage{&fakeImageService{}}
			c.nri = nri.NewAPI(n, &criImplementation{c})
			// Without a queue, the events of a sandbox that becomes ready by mistake would block.
			c.containerEventsQ = eventq.New(time.Minute, func(*runtime.ContainerEventResponse) {})
			t.Cleanup(c.containerEventsQ.Shutdown)

			_, err = c.RunPodSandbox(util.NamespacedContext(), &runtime.RunPodSandboxRequest{Config: &runtime.PodSandboxConfig{
				Metadata: &runtime.PodSandboxMetadata{Name: "pod", Uid: "uid", Namespace: "default"},
				Linux: &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{
					NamespaceOptions: &runtime.NamespaceOption{Network: runtime.NamespaceMode_NODE},
				}},
			}})
			require.ErrorContains(t, err, says)
			require.Empty(t, c.sandboxStore.List())
			require.Error(t, n.waits.Err(), "the wait goes on")
			if says != "rejected" {
				require.ErrorIs(t, err, errdefs.ErrUnavailable)
			}
		})
	}
}
