// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const notShown = "the status has no plugins"

var _ = Pod.has("L17_StatusShowsWhatAPodWaitsFor", Patient.AndStatus(), func(t T) {
	began := time.Now()
	n := t.Runtime()
	fails, holds := NewPlugin(t, "10", "fails"), NewPlugin(t, "20", "holds")
	fails.On(plugin.PostCreateContainer, plugin.Fail("no space"))
	holds.Subscribe(plugin.RunPodSandbox, plugin.StopPodSandbox)
	holds.FailurePolicy(&api.FailurePolicy{FailRequest: true})
	Connect(t, n, fails, holds)
	NewLife(t, n, "there")
	held := NewInHook(t, n, holds, "held")

	t.Promise("L17", "the status shows each plugin, and the event that it handles", OnStock(notShown), func(t require.TestingT) {
		info := ReadNRI(t, n)
		require.True(t, info.Enabled)
		require.Len(t, info.Plugins, 2)
		first, second := info.Plugins[0], info.Plugins[1]
		assert.Equal(t, "10", first.Index)
		assert.Equal(t, fails.Name(), first.Index+"-"+first.Name)
		assert.Nil(t, first.CurrentEvent)
		require.NotNil(t, first.LastError)
		assert.Contains(t, first.LastError.Message, "no space")
		assert.WithinRange(t, first.LastError.At, began, time.Now())
		assert.Equal(t, 1, first.Containers)

		assert.Equal(t, "20", second.Index)
		assert.Equal(t, holds.Name(), second.Index+"-"+second.Name)
		assert.Equal(t, os.Getpid(), second.Pid)
		assert.True(t, second.Synchronized)
		assert.Equal(t, []string{"RunPodSandbox", "StopPodSandbox"}, second.Subscriptions)
		assert.True(t, second.FailurePolicy.FailRequest)
		assert.False(t, second.FailurePolicy.KeepConnected)
		assert.Equal(t, 2, second.Pods)
		assert.Nil(t, second.LastError)
		second.RequireWithin(t, began)
		require.NotNil(t, second.CurrentEvent)
		assert.Equal(t, "RunPodSandbox", second.CurrentEvent.Event)
		assert.Equal(t, held.ID, second.CurrentEvent.Pod)
		second.CurrentEvent.RequireWithin(t, second.Since)
	})
	t.Promise("L17", "the status shows which plugin a pod being created waits for, and since when", OnStock(notShown), func(t require.TestingT) {
		info := ReadNRI(t, n)
		require.Len(t, info.PodsBeingCreated, 1)
		pod := info.PodsBeingCreated[0]
		assert.Equal(t, held.ID, pod.ID)
		assert.Equal(t, "default", pod.Namespace)
		assert.Equal(t, "held", pod.Name)
		require.Len(t, info.Plugins, 2)
		pod.RequireWithin(t, info.Plugins[1].Since)
		require.NotNil(t, pod.WaitingFor)
		assert.Equal(t, holds.Name(), pod.WaitingFor.Plugin)
		assert.Empty(t, pod.WaitingFor.Behind)
		pod.WaitingFor.RequireWithin(t, pod.Since)
	})

	// A second pod waits until the plugin has answered for the first.
	behind := InBackground(func() error { _, err := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("behind")); return err })
	t.Promise("L17", "the status shows the request before a pod that waits for a busy plugin", OnStock(notShown), func(t require.TestingT) {
		RequireSoon(t, "the second pod behind the first", func(context.Context) error {
			info := ReadNRI(t, n)
			if len(info.PodsBeingCreated) < 2 || info.PodsBeingCreated[1].WaitingFor == nil || info.Plugins[1].QueueLength == 0 {
				return errors.New("it does not wait")
			}
			pod := info.PodsBeingCreated[1]
			assert.Equal(t, "behind", pod.Name)
			assert.Equal(t, holds.Name(), pod.WaitingFor.Plugin)
			assert.Equal(t, "RunPodSandbox of pod "+held.ID, pod.WaitingFor.Behind)
			return nil
		})
	})
	held.Gate.Release()
	require.NoError(t, <-held.Ran)
	require.NoError(t, <-behind)
	t.Promise("L17", "the status shows no waiting pod when none waits", OnStock(notShown), func(t require.TestingT) {
		info := ReadNRI(t, n)
		assert.Empty(t, info.Plugins[1].LastError)
		assert.Empty(t, info.PodsBeingCreated)
	})
})
