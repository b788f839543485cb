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

// The end of a rejected pod goes to the plugins that have received the pod: those that
// were asked, and one that had it in its Synchronize. When the pod is created again, with
// a new id, its end goes to all plugins.
func TestRejectedPodEndsForPluginsThatSawIt(t *testing.T) {
	var (
		ctx    = context.Background()
		pod    = &api.PodSandbox{Id: "pod0", Name: "pod0", Uid: "uid0", Namespace: "default"}
		stop   = PodSandboxEvent(pod, StopPodSandbox)
		remove = PodSandboxEvent(pod, RemovePodSandbox)
		veto   = errors.New("no such pod here")
		s      = &Suite{}
		before = &mockPlugin{idx: "00", name: "before"}
		reject = &mockPlugin{idx: "10", name: "reject"}
		after  = &mockPlugin{idx: "20", name: "after"}
		joined = &mockPlugin{idx: "30", name: "joined"}
		node   = &mockRuntime{}
	)
	reject.runPodSandbox = func(*mockPlugin, *api.PodSandbox, *api.Container) error { return veto }
	s.Prepare(t, node, before, reject, after)
	s.Startup()
	rt := s.runtime.runtime
	node.pods = map[string]*api.PodSandbox{pod.GetId(): pod}
	s.StartPlugins(joined)
	s.WaitForPluginsToSync(joined)
	rt.BlockPluginSync().Unblock() // waits until joined is registered

	require.ErrorContains(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}), veto.Error())
	require.NoError(t, rt.StopPodSandbox(ctx, &api.StopPodSandboxRequest{Pod: pod}))
	require.NoError(t, rt.RemovePodSandbox(ctx, &api.RemovePodSandboxRequest{Pod: pod}))

	for _, received := range []*mockPlugin{before, reject, joined} {
		require.NoError(t, received.Wait(stop, time.After(startupTimeout)), "%s knows the pod, and does not receive its stop", received.FullName())
		require.NoError(t, received.Wait(remove, time.After(startupTimeout)), "%s knows the pod, and does not receive its removal", received.FullName())
	}
	require.False(t, after.EventQ().Has(stop), "received the stop of a pod that it does not know")
	require.False(t, after.EventQ().Has(remove), "received the removal of a pod that it does not know")

	veto = nil
	pod = &api.PodSandbox{Id: "pod1", Name: "pod0", Uid: "uid0", Namespace: "default"}
	stop = PodSandboxEvent(pod, StopPodSandbox)
	require.NoError(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}))
	require.NoError(t, rt.StopPodSandbox(ctx, &api.StopPodSandboxRequest{Pod: pod}))
	require.NoError(t, after.Wait(stop, time.After(startupTimeout)))
}
