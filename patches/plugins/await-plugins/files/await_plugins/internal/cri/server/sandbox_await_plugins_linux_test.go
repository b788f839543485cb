// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	crinri "github.com/containerd/containerd/v2/internal/cri/nri"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
)

// awaiting is NRI with plugins that a pod may have to wait for.
type awaiting struct {
	nri.API
	err   error // of the wait
	asked []string
}

type waited struct{}

func (*awaiting) IsEnabled() bool { return true }

func (a *awaiting) AwaitPlugins(ctx context.Context, pod nri.PodSandbox) (context.Context, error) {
	a.asked = append(a.asked, pod.GetID())
	return context.WithValue(ctx, waited{}, true), a.err
}

// before is CRI before anything of a pod is created: it has no record.
type before struct{ crinri.CRIImplementation }

type noRecords struct{ sandbox.Store }

func (before) CreatingSandboxes() *sandboxstore.Creations { return &sandboxstore.Creations{} }
func (before) SandboxMetadataStore() sandbox.Store        { return noRecords{} }

func (noRecords) Get(context.Context, string) (sandbox.Sandbox, error) {
	return sandbox.Sandbox{}, errdefs.ErrNotFound
}

// A pod waits for required plugins before anything is created, and its hook gets the context
// of that wait. A pod on the host's network waits in its hook alone.
func TestPodAwaitsPlugins(t *testing.T) {
	gone := errors.New("plugin 10-network is disconnected")
	for name, tc := range map[string]struct {
		network runtime.NamespaceMode
		err     error
		asked   []string
		waited  bool
	}{
		"connected or connecting":     {network: runtime.NamespaceMode_POD, asked: []string{"id"}, waited: true},
		"one stays disconnected":      {network: runtime.NamespaceMode_POD, err: gone, asked: []string{"id"}},
		"a pod on the host's network": {network: runtime.NamespaceMode_NODE, err: gone},
	} {
		t.Run(name, func(t *testing.T) {
			plugins := &awaiting{err: tc.err}
			c := newTestCRIService()
			c.nri = crinri.NewAPI(plugins, before{})
			pod := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "id", Config: &runtime.PodSandboxConfig{
				Linux: &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{
					NamespaceOptions: &runtime.NamespaceOption{Network: tc.network},
				}},
			}}, sandboxstore.Status{State: sandboxstore.StateUnknown})

			ctx, err := c.awaitPlugins(t.Context(), &pod)
			require.Equal(t, tc.asked, plugins.asked)
			require.Equal(t, tc.waited, ctx.Value(waited{}) != nil)
			if tc.asked == nil || tc.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, gone)
			var interrupted *sandboxstore.Interruption
			require.ErrorAs(t, err, &interrupted) // counted as caused by a plugin
			require.Equal(t, byPlugin, interrupted.By)
		})
	}
}
