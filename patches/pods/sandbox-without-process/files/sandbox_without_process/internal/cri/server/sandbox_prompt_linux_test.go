// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	imagespec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	core "github.com/containerd/containerd/v2/core/sandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// hungShim does not answer, and counts what it is asked.
type hungShim struct {
	sandboxService
	asked int
}

func (h *hungShim) hang(ctx context.Context) error {
	h.asked++
	<-ctx.Done()
	return ctx.Err()
}

func (h *hungShim) SandboxStatus(ctx context.Context, _, _ string, _ bool) (core.ControllerStatus, error) {
	return core.ControllerStatus{}, h.hang(ctx)
}

func (h *hungShim) SandboxPlatform(ctx context.Context, _, _ string) (imagespec.Platform, error) {
	return imagespec.Platform{}, h.hang(ctx)
}

func (h *hungShim) UpdateSandbox(ctx context.Context, _, _ string, _ core.Sandbox, _ ...string) error {
	return h.hang(ctx)
}

func (h *hungShim) StopSandbox(ctx context.Context, _, _ string, _ ...core.StopOpt) error {
	return h.hang(ctx)
}

// prompt is the service of a store with one sandbox.
func prompt(t *testing.T, without bool, state sandboxstore.State, shared *specs.Spec) (promptSandboxService, *hungShim) {
	t.Helper()
	c, shim := newTestCRIService(), &hungShim{}
	config := &runtime.PodSandboxConfig{Metadata: &runtime.PodSandboxMetadata{Name: "web"}, Linux: &runtime.LinuxPodSandboxConfig{}}
	sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", Config: config}, sandboxstore.Status{State: state, CreatedAt: time.Unix(7, 0)})
	sandbox.Shared, sandbox.WithoutProcess = shared, without
	require.NoError(t, c.sandboxStore.Add(sandbox))
	return promptSandboxService{shim, c.sandboxStore}, shim
}

func TestSandboxWithoutProcessIsAnsweredFor(t *testing.T) {
	for state, shown := range map[sandboxstore.State]runtime.PodSandboxState{
		sandboxstore.StateReady: runtime.PodSandboxState_SANDBOX_READY, sandboxstore.StateNotReady: runtime.PodSandboxState_SANDBOX_NOTREADY,
	} {
		s, shim := prompt(t, true, state, &specs.Spec{Hostname: "web", Linux: &specs.Linux{}})
		status, err := s.SandboxStatus(t.Context(), "shim", "pod", false)
		require.NoError(t, err)
		require.Equal(t, core.ControllerStatus{SandboxID: "pod", State: shown.String(), CreatedAt: time.Unix(7, 0)}, status)

		status, err = s.SandboxStatus(t.Context(), "shim", "pod", true)
		require.NoError(t, err)
		var details struct {
			Config      struct{ Metadata struct{ Name string } }
			RuntimeSpec struct{ Hostname string }
		}
		require.NoError(t, json.Unmarshal([]byte(status.Info["info"]), &details))
		require.Equal(t, "web", details.Config.Metadata.Name)
		require.Equal(t, "web", details.RuntimeSpec.Hostname)

		platform, err := s.SandboxPlatform(t.Context(), "shim", "pod")
		require.NoError(t, err)
		require.Equal(t, goruntime.GOOS, platform.OS)
		require.NoError(t, s.UpdateSandbox(t.Context(), "shim", "pod", core.Sandbox{}))
		require.Zero(t, shim.asked)
	}
}

func TestStopOfSandboxWithoutProcessIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shim := prompt(t, true, sandboxstore.StateReady, &specs.Spec{Linux: &specs.Linux{}})
		require.ErrorIs(t, s.StopSandbox(t.Context(), "shim", "pod"), context.DeadlineExceeded)
		require.Equal(t, 1, shim.asked)
	})
}

// A sandbox with a process, one on another host, and one that is being created are their controllers'.
func TestOtherSandboxesAreAsked(t *testing.T) {
	for name, of := range map[string]struct {
		without bool
		shared  *specs.Spec
		id      string
	}{
		"process":       {false, &specs.Spec{Linux: &specs.Linux{}}, "pod"},
		"another host":  {false, nil, "pod"},
		"being created": {true, &specs.Spec{Linux: &specs.Linux{}}, "new"},
	} {
		s, shim := prompt(t, of.without, sandboxstore.StateReady, of.shared)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, status := s.SandboxStatus(ctx, "shim", of.id, false)
		_, platform := s.SandboxPlatform(ctx, "shim", of.id)
		for _, err := range []error{status, platform, s.UpdateSandbox(ctx, "shim", of.id, core.Sandbox{}), s.StopSandbox(ctx, "shim", of.id)} {
			require.ErrorIs(t, err, context.Canceled, name)
		}
		require.Equal(t, 4, shim.asked, name)
	}
}
