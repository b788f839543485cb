// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/pkg/api"
)

// Waits names the plugin that a pod waits for. For the next pod it also names the event
// that the plugin handles now.
func TestWaits(t *testing.T) {
	patient(t)
	dir, asked, over := t.TempDir(), make(chan struct{}, 2), make(chan struct{})
	r := runtimeWith(t, dir, lists)
	joined(t, dir, func(*mockPlugin) error { asked <- struct{}{}; <-over; return nil })
	require.Empty(t, r.Waits())

	begun, ran := time.Now(), make(chan error, 2)
	run := func(id string) {
		ran <- r.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: id}})
	}
	go run("pod0")
	<-asked
	go run("pod1")
	require.Eventually(t, func() bool { w := r.Waits(); return len(w) == 2 && w[1].Behind != "" }, soon, time.Millisecond)

	waits := r.Waits()
	require.Equal(t, "pod0", waits[0].Pod)
	require.Equal(t, "RunPodSandbox", waits[0].Event)
	require.Equal(t, "10-judge", waits[0].Plugin)
	require.Empty(t, waits[0].Behind)
	require.True(t, waits[0].Since.After(begun), "since %s", waits[0].Since)
	require.Equal(t, "pod1", waits[1].Pod)
	require.Equal(t, "10-judge", waits[1].Plugin)
	require.Equal(t, "RunPodSandbox of pod pod0", waits[1].Behind)

	plugins := r.PluginStatus()
	require.Len(t, plugins, 1)
	require.Equal(t, "RunPodSandbox", plugins[0].Current)
	require.Equal(t, "pod0", plugins[0].CurrentPod)
	require.Equal(t, 1, plugins[0].Waiting)
	require.Equal(t, os.Getpid(), plugins[0].Pid, "the plugin is in this process")

	close(over)
	require.NoError(t, <-ran)
	require.NoError(t, <-ran)
	require.Empty(t, r.Waits())
}
