// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"fmt"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Synchronize has the containers of a shim that does not answer in their last known state. A
// request to the shim about one of them takes two seconds.
func TestL22_ShimThatDoesNotAnswerKeepsNoPluginOut(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	early, late := plugin.New("10", "early"), plugin.New("20", "late")
	Connect(t, n, early)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("hung")
	hung := NewLifeOf(t, n, config)
	for i := range 4 {
		container, err := c.Create(ctx, hung.Pod, config, c.Container(fmt.Sprint("more", i)))
		require.NoError(t, err)
		require.NoError(t, c.Start(ctx, container))
	}
	answers := NewLife(t, n, "answers")
	thaw := FreezeShim(t, n, hung.Pod)

	moments := WithinMoments(t)
	joined := ConnectInBackground(moments, t, n, late)
	RequireSoon(t, "the registration", func(context.Context) error { return HasGot(late, plugin.Configure) })
	_, errRan := c.RunPod(moments, c.Pod("unrelated")) // may be in Synchronize, being created
	errJoined := <-joined

	Promise(t, "L22", "a plugin joins at once although a shim does not answer", OnStock("it waits for the shim, once for each container"), func(t require.TestingT) {
		require.NoError(t, errJoined)
		received := late.Calls().Only(plugin.Synchronize)[0]
		assert.Equal(t, 1, TimesSynchronized(late, hung.Pod))
		assert.Equal(t, 1, TimesSynchronized(late, answers.Pod))
		assert.Len(t, received.Pods, 2+TimesSynchronized(late, "unrelated"))
		assert.Equal(t, started(early.Calls()), running(received.Containers))
	})
	Promise(t, "L13", "pods are created meanwhile", OnStock("they wait for the plugin that joins"), func(t require.TestingT) {
		require.NoError(t, errRan)
	})
	thaw()
	require.NoError(t, c.StopPod(ctx, hung.Pod))
	require.NoError(t, c.RemovePod(ctx, hung.Pod))
	Promise(t, "L3", "a plugin that joined receives the end of the shim's containers", OnStock(CannotJoin), func(t require.TestingT) {
		assert.Len(t, late.Calls().Of(hung.Pod).Only(plugin.StopContainer), 5)
		assert.Len(t, late.Calls().Of(hung.Pod).Only(plugin.RemoveContainer), 5)
		assert.Empty(t, history.Read(late.Calls(), nil).Faults())
	})
}

// started returns the PIDs of containers, by their ids, that a plugin received before they ran.
func started(calls plugin.Calls) map[string]uint32 {
	processes := map[string]uint32{}
	for _, call := range calls.Only(plugin.StartContainer) {
		processes[call.Container.GetId()] = call.Container.GetPid()
	}
	return processes
}

// running returns the PIDs of containers that are shown as running.
func running(containers []*api.Container) map[string]uint32 {
	processes := map[string]uint32{}
	for _, container := range containers {
		if container.GetState() == api.ContainerState_CONTAINER_RUNNING {
			processes[container.GetId()] = container.GetPid()
		}
	}
	return processes
}

// An update of a container can hang below its shim. Requests for the state of the container do not
// wait for it.
func TestL22_UpdateThatHangsKeepsNoPluginOut(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	l := NewLife(t, n, "changing")
	stuck := StickUpdates(t, n)
	updated := UpdateInBackground(t, n, l.Container)
	stuck.RequireEntered(t)

	late := plugin.New("10", "late")
	errJoined := <-ConnectInBackground(WithinMoments(t), t, n, late)
	listed, errListed := n.CRI().Runtime.ListContainers(WithinMoments(t), &runtime.ListContainersRequest{})
	hung := IsOpen(updated)
	stuck.Release()
	errUpdated := RequireEnds(t, updated, "the update")

	Promise(t, "L22", "a plugin joins while an update of a container hangs", OnStock("it waits for the update"), func(t require.TestingT) {
		require.NoError(t, errJoined)
		assert.True(t, hung, "the update was over before")
		containers := late.Calls().Only(plugin.Synchronize)[0].Containers
		require.Len(t, containers, 1)
		assert.Equal(t, api.ContainerState_CONTAINER_RUNNING, containers[0].GetState())
	})
	Promise(t, "L22", "CRI lists containers meanwhile", OnStock("the list waits for the update"), func(t require.TestingT) {
		require.NoError(t, errListed)
		assert.Len(t, listed.GetContainers(), 1)
	})
	Promise(t, "L22", "the update goes on", KeptOnStock, func(t require.TestingT) { require.NoError(t, errUpdated) })
}
