// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"testing"

	cg1 "github.com/containerd/cgroups/v3/cgroup1/stats"
	cg2 "github.com/containerd/cgroups/v3/cgroup2/stats"
	"github.com/containerd/typeurl/v2"
	"github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/api/types"
	core "github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// hungController is the controller of a shim that does not answer.
type hungController struct {
	core.Controller
	shim *hungShim
}

func (h *hungShim) SandboxController(string) (core.Controller, error) {
	return hungController{shim: h}, nil
}

func (h hungController) Metrics(ctx context.Context, _ string) (*types.Metric, error) {
	return nil, h.shim.hang(ctx)
}

func TestMetricsOfSandboxWithoutProcessAreThoseOfItsCgroup(t *testing.T) {
	s, shim := prompt(t, true, sandboxstore.StateReady, &specs.Spec{Linux: &specs.Linux{}})
	for parent, used := range map[string]bool{"": false, "/no-such-pod": false, "/": true} {
		sandbox, err := s.store.Get("pod")
		require.NoError(t, err)
		sandbox.Config.Linux.CgroupParent = parent
		controller, err := s.SandboxController("shim")
		require.NoError(t, err)
		metric, err := controller.Metrics(t.Context(), "pod")
		require.NoError(t, err, parent)
		require.Equal(t, "pod", metric.GetID())
		data, err := typeurl.UnmarshalAny(metric.GetData())
		require.NoError(t, err)
		switch m := data.(type) {
		case *cg1.Metrics:
			require.Positive(t, m.GetCPU().GetUsage().GetTotal())
			require.True(t, used, parent)
		case *cg2.Metrics:
			require.Equal(t, used, m.GetCPU().GetUsageUsec() > 0, parent)
		default:
			t.Fatalf("%T", data)
		}
	}
	require.Zero(t, shim.asked)
}

// Other sandboxes are their controllers', and the controller of pause containers is itself.
func TestMetricsOfOtherSandboxesAreAsked(t *testing.T) {
	s, shim := prompt(t, false, sandboxstore.StateReady, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	controller, err := s.SandboxController("shim")
	require.NoError(t, err)
	_, err = controller.Metrics(ctx, "pod")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, shim.asked)

	controller, err = s.SandboxController(string(criconfig.ModePodSandbox))
	require.NoError(t, err)
	require.Equal(t, hungController{shim: shim}, controller)
}

func TestStatisticsOfNoContainerAskNoShim(t *testing.T) {
	c := newTestCRIService() // a request would panic: it has no client
	stats, err := c.listContainerStats(t.Context(), &runtime.ListContainerStatsRequest{
		Filter: &runtime.ContainerStatsFilter{PodSandboxId: "pod"},
	})
	require.NoError(t, err)
	require.Empty(t, stats)
}
