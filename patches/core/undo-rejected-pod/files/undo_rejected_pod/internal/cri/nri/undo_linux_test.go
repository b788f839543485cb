// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"errors"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"

	sbstore "github.com/containerd/containerd/v2/core/sandbox"
	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
)

// Plugins receive the stop, then the removal of a rejected pod, even if the caller has
// canceled by then and plugins fail the stop.
func TestRejectedPodIsUndone(t *testing.T) {
	rejected := errors.New("rejected")
	ctx, cancel := context.WithCancel(context.Background())
	plugins := &undoRecorder{run: func() error { cancel(); return rejected }}

	a := NewAPI(plugins, undoCRI{})
	sandbox := sstore.NewSandbox(sstore.Metadata{ID: "pod0"}, sstore.Status{})

	require.ErrorIs(t, a.RunPodSandbox(ctx, &sandbox), rejected)
	require.ErrorContains(t, a.UndoRunPodSandbox(context.Background(), &sandbox), "a plugin failed")
	require.Equal(t, []string{"run pod0", "stop pod0", "remove pod0"}, plugins.calls)
}

// undoRecorder stands in for the NRI plugins of a node. It notes the calls whose
// context has not ended.
type undoRecorder struct {
	nri.API
	run   func() error
	calls []string
}

func (u *undoRecorder) IsEnabled() bool { return true }

func (u *undoRecorder) note(ctx context.Context, call string, pod nri.PodSandbox) {
	if ctx.Err() == nil {
		u.calls = append(u.calls, call+" "+pod.GetID())
	}
}

func (u *undoRecorder) RunPodSandbox(ctx context.Context, pod nri.PodSandbox) error {
	u.note(ctx, "run", pod)
	return u.run()
}

func (u *undoRecorder) StopPodSandbox(ctx context.Context, pod nri.PodSandbox) error {
	u.note(ctx, "stop", pod)
	return errors.New("a plugin failed")
}

func (u *undoRecorder) RemovePodSandbox(ctx context.Context, pod nri.PodSandbox) error {
	u.note(ctx, "remove", pod)
	return nil
}

// undoCRI is the rest of CRI: a node that keeps no metadata of the pod.
type undoCRI struct{ CRIImplementation }

func (undoCRI) SandboxMetadataStore() sbstore.Store { return undoMetadata{} }

type undoMetadata struct{ sbstore.Store }

func (undoMetadata) Get(context.Context, string) (sbstore.Sandbox, error) {
	return sbstore.Sandbox{}, errdefs.ErrNotFound
}
