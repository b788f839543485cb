// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/pkg/api"
)

// The end of a refused pod goes to the plugins that were asked for it. When it
// is tried again, which gives it a new id, it is everybody's.
func TestRefusedPodEndsForThoseAsked(t *testing.T) {
	var (
		ctx    = context.Background()
		pod    = &api.PodSandbox{Id: "pod0", Name: "pod0", Uid: "uid0", Namespace: "default"}
		stop   = PodSandboxEvent(pod, StopPodSandbox)
		remove = PodSandboxEvent(pod, RemovePodSandbox)
		veto   = errors.New("no such pod here")
		s      = &Suite{}
		before = &mockPlugin{idx: "00", name: "before"}
		refuse = &mockPlugin{idx: "10", name: "refuse"}
		after  = &mockPlugin{idx: "20", name: "after"}
	)
	refuse.runPodSandbox = func(*mockPlugin, *api.PodSandbox, *api.Container) error { return veto }
	s.Prepare(t, &mockRuntime{}, before, refuse, after)
	s.Startup()
	rt := s.runtime.runtime

	require.ErrorContains(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}), veto.Error())
	require.NoError(t, rt.StopPodSandbox(ctx, &api.StopPodSandboxRequest{Pod: pod}))
	require.NoError(t, rt.RemovePodSandbox(ctx, &api.RemovePodSandboxRequest{Pod: pod}))

	for _, asked := range []*mockPlugin{before, refuse} {
		require.True(t, asked.EventQ().Has(stop), "%s was asked, and not told of the stop", asked.FullName())
		require.True(t, asked.EventQ().Has(remove), "%s was asked, and not told of the removal", asked.FullName())
	}
	require.False(t, after.EventQ().Has(stop), "told of the stop of a pod it was not asked for")
	require.False(t, after.EventQ().Has(remove), "told of the removal of a pod it was not asked for")

	veto = nil
	pod = &api.PodSandbox{Id: "pod1", Name: "pod0", Uid: "uid0", Namespace: "default"}
	stop = PodSandboxEvent(pod, StopPodSandbox)
	require.NoError(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}))
	require.NoError(t, rt.StopPodSandbox(ctx, &api.StopPodSandboxRequest{Pod: pod}))
	require.NoError(t, after.Wait(stop, time.After(startupTimeout)))
}
