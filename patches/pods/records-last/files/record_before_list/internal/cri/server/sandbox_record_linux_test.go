// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/nri"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/util"
	"github.com/containerd/containerd/v2/internal/eventq"
	corenri "github.com/containerd/containerd/v2/internal/nri"
)

// ended is a node with stopped sandboxes. Deletions of records fail if it is set to fail.
type ended struct {
	fakeSandboxService
	sandbox.Store
	fails error
}

func (*ended) ShutdownSandbox(context.Context, string, string) error { return nil }
func (n *ended) Delete(context.Context, string) error                { return n.fails }

type noLeases struct{ leases.Manager }

func (noLeases) Delete(context.Context, leases.Lease, ...leases.DeleteOpt) error { return nil }

type noPlugins struct{ corenri.API }

func (noPlugins) IsEnabled() bool { return false }

// A sandbox whose record cannot be deleted stays listed, and its removal can be repeated.
func TestSandboxIsListedUntilItsRecordIsDeleted(t *testing.T) {
	n := &ended{fails: errdefs.ErrUnavailable}
	client, err := containerd.New("", containerd.WithServices(containerd.WithSandboxStore(n), containerd.WithLeasesService(noLeases{})))
	require.NoError(t, err)
	c := newTestCRIService()
	c.client, c.sandboxService, c.nri = client, n, nri.NewAPI(noPlugins{}, &criImplementation{c})
	c.containerEventsQ = eventq.New(time.Minute, func(*runtime.ContainerEventResponse) {})
	t.Cleanup(c.containerEventsQ.Shutdown)
	onHost := &runtime.PodSandboxConfig{Linux: &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{
		NamespaceOptions: &runtime.NamespaceOption{Network: runtime.NamespaceMode_NODE},
	}}}
	require.NoError(t, c.sandboxStore.Add(sandboxstore.NewSandbox(
		sandboxstore.Metadata{ID: "pod", Config: onHost}, sandboxstore.Status{State: sandboxstore.StateNotReady})))

	remove := &runtime.RemovePodSandboxRequest{PodSandboxId: "pod"}
	_, err = c.RemovePodSandbox(util.NamespacedContext(), remove)
	require.ErrorIs(t, err, errdefs.ErrUnavailable)
	require.Len(t, c.sandboxStore.List(), 1)

	n.fails = nil
	_, err = c.RemovePodSandbox(util.NamespacedContext(), remove)
	require.NoError(t, err)
	require.Empty(t, c.sandboxStore.List())
}
