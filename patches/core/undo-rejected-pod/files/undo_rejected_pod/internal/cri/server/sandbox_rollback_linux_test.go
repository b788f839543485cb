// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/core/metadata"
	"github.com/containerd/containerd/v2/core/sandbox"
	imagestore "github.com/containerd/containerd/v2/internal/cri/store/image"
	"github.com/containerd/containerd/v2/internal/cri/util"
)

// vanishing is a sandboxer whose sandboxes lose their record while they start, so that
// their creation fails then. It notes its calls.
type vanishing struct {
	fakeSandboxService
	records sandbox.Store
	calls   []string
	lease   string // under which the sandbox was started
	id      string
}

func (*vanishing) CreateSandbox(context.Context, sandbox.Sandbox, ...sandbox.CreateOpt) error {
	return nil
}

func (v *vanishing) StartSandbox(ctx context.Context, _, id string) (sandbox.ControllerInstance, error) {
	v.id = id
	v.lease, _ = leases.FromContext(ctx)
	return sandbox.ControllerInstance{SandboxID: id}, v.records.Delete(ctx, id)
}

func (v *vanishing) StopSandbox(context.Context, string, string, ...sandbox.StopOpt) error {
	v.calls = append(v.calls, "stop")
	return nil
}

func (v *vanishing) ShutdownSandbox(context.Context, string, string) error {
	v.calls = append(v.calls, "shutdown")
	return nil
}

// pauseImage is an image service with the image of the sandbox.
type pauseImage struct{ *fakeImageService }

func (pauseImage) LocalResolve(string) (imagestore.Image, error) { return imagestore.Image{}, nil }

// runVanishing runs a sandbox whose creation fails after its start.
func runVanishing(t *testing.T) *vanishing {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "meta.db"), 0o600, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	meta := metadata.NewDB(db, nil, nil)
	v := &vanishing{records: metadata.NewSandboxStore(meta)}
	client, err := containerd.New("", containerd.WithServices(
		containerd.WithSandboxStore(v.records), containerd.WithLeasesService(metadata.NewLeaseManager(meta))))
	require.NoError(t, err)

	c := newTestCRIService()
	c.client, c.sandboxService, c.ImageService = client, v, pauseImage{&fakeImageService{}}
	_, err = c.RunPodSandbox(util.NamespacedContext(), &runtime.RunPodSandboxRequest{Config: &runtime.PodSandboxConfig{
		Metadata: &runtime.PodSandboxMetadata{Name: "pod", Uid: "uid", Namespace: "default"},
		Linux: &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{
			NamespaceOptions: &runtime.NamespaceOption{Network: runtime.NamespaceMode_NODE},
		}},
	}})
	require.ErrorContains(t, err, "unable to save sandbox")
	return v
}

// A sandbox whose creation fails is stopped before it is shut down: its exit monitor
// deletes the task as well.
func TestFailedSandboxIsStoppedBeforeItsShutdown(t *testing.T) {
	require.Equal(t, []string{"stop", "shutdown"}, runVanishing(t).calls)
}
