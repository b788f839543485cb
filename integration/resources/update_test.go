// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// update updates the resources of a container in place.
func update(ctx context.Context, n Runtime, container string, asks podresources.Requirements) error {
	r := &runtime.UpdateContainerResourcesRequest{ContainerId: container, Linux: &runtime.LinuxContainerResources{CpuShares: 1024}}
	if err := podresources.SetContainerUpdate(r, asks); err != nil {
		return err
	}
	_, err := n.CRI().Runtime.UpdateContainerResources(ctx, r)
	return err
}

// updatePod updates the resources of a whole pod in place.
func updatePod(ctx context.Context, n Runtime, pod string, asks podresources.Pod) error {
	r := &runtime.UpdatePodSandboxResourcesRequest{PodSandboxId: pod}
	if err := podresources.SetPodUpdate(r, asks); err != nil {
		return err
	}
	_, err := n.CRI().Runtime.UpdatePodSandboxResources(ctx, r)
	return err
}

// Events have a container's own resources, and the changes of in-place updates.
func TestR2_ContainersAndUpdatesHaveTheirResources(t *testing.T) {
	t.Parallel()
	n, p, pod, id := runAnnounced(t)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Container("main")
	require.NoError(t, podresources.SetContainer(config, Requests("0.5", "128Mi"))) // the same as 500m
	container, err := c.Create(ctx, id, pod, config)
	require.NoError(t, err)
	require.NoError(t, c.Start(ctx, container))
	require.NoError(t, n.Settled(ctx, container))

	require.NoError(t, update(ctx, n, container, Requests("1", "128Mi")))
	Promise(t, "R2", "events have a container's own resources, and an update has its new ones", OnStock(DeliversNothing), func(t require.TestingT) {
		assert.Equal(t, []string{"CreateContainer 500m", "StartContainer 500m", "UpdateContainer 1", "PostUpdateContainer 1"},
			CPUsDelivered(p, plugin.CreateContainer, plugin.StartContainer, plugin.UpdateContainer, plugin.PostUpdateContainer))
	})
	Promise(t, "R2", "the pod has the resources of an update once all plugins have approved it", OnStock(DeliversNothing), func(t require.TestingT) {
		assert.Equal(t, []string{AllThree}, SumsDelivered(p, plugin.UpdateContainer), "until all have approved it")
		assert.Equal(t, []string{"cpu 3250m, memory 224Mi"}, SumsDelivered(p, plugin.PostUpdateContainer))
	})

	// An update of a whole pod.
	announcement := ThreeContainers()
	announcement.Containers[2].Resources = Requests("3", "32Mi")
	require.NoError(t, updatePod(ctx, n, id, announcement))

	// An update without resources changes nothing.
	_, err = c.Runtime.UpdateContainerResources(ctx, &runtime.UpdateContainerResourcesRequest{ContainerId: container, Linux: &runtime.LinuxContainerResources{CpuShares: 512}})
	require.NoError(t, err)
	after := joinAfterKill(t, n)
	require.NoError(t, c.Stop(ctx, container, 0))
	const sum = "cpu 5500m, memory 224Mi"
	Promise(t, "R2", "plugins receive an update of a whole pod with the pod", OnStock(DeliversNothing), func(t require.TestingT) {
		assert.Equal(t, []string{sum}, SumsDelivered(p, plugin.UpdatePodSandbox))
		assert.Equal(t, []string{sum}, SumsDelivered(p, plugin.PostUpdatePodSandbox))
	})
	Promise(t, "R2", "plugins receive the latest update after a restart", OnStock(DeliversNothing), Eventually(func(t require.TestingT) {
		assert.Equal(t, []string{sum}, SumsDelivered(after, plugin.Synchronize))
		assert.Equal(t, []string{"StopContainer 500m"}, CPUsDelivered(after, plugin.StopContainer), "the pod's update was the last one")
	}))
}

// A rejected update is not kept.
func TestR2_UpdateThatAPluginRejectsIsNotDelivered(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	first, second := plugin.New("10", "first"), plugin.New("20", "second")
	Connect(t, n, first, second)
	l := NewLifeOf(t, n, Announced(t, n, "field", ThreeContainers()))
	for _, event := range []plugin.Event{plugin.UpdateContainer, plugin.UpdatePodSandbox} {
		second.On(event, plugin.Fail("not here"))
	}
	ctx := WithinAMinute(t)
	require.ErrorContains(t, update(ctx, n, l.Container, Requests("9", "128Mi")), "not here")
	less := ThreeContainers()
	less.Containers = less.Containers[:2]
	require.ErrorContains(t, updatePod(ctx, n, l.Pod, less), "not here")
	Promise(t, "R2", "a plugin before the one that rejects an update receives it, and then what holds", OnStock(DeliversNothing), Eventually(func(t require.TestingT) {
		assert.Equal(t, []string{"UpdateContainer 9", "UpdateContainer 500m"}, CPUsDelivered(first, plugin.UpdateContainer))
		assert.Equal(t, []string{"cpu 2500m, memory 192Mi", "cpu 2750m, memory 224Mi"}, SumsDelivered(first, plugin.UpdatePodSandbox))
	}))
	after := joinAfterKill(t, n)
	l.End(t)
	Promise(t, "R2", "plugins do not receive a rejected update later", OnStock(DeliversNothing), Eventually(func(t require.TestingT) {
		requireDelivered(t, after, plugin.Synchronize, ThreeContainers())
		assert.Equal(t, []string{"StopContainer 500m"}, CPUsDelivered(after, plugin.StopContainer))
	}))
}

// The status of a container cannot be written: the update fails, and plugins receive pod and
// container with the resources from before.
func TestR2_UpdateThatCannotBeWrittenIsNotDelivered(t *testing.T) {
	t.Parallel()
	n, _, pod, id := runAnnounced(t)
	ctx, c := WithinAMinute(t), n.CRI()
	container, err := c.Create(ctx, id, pod, c.Container("main"))
	require.NoError(t, err)
	status := filepath.Join(n.Folder(), "root", "io.containerd.grpc.v1.cri", "containers", container)
	require.NoError(t, os.Rename(status, status+".aside"))
	require.ErrorContains(t, update(ctx, n, container, Requests("9", "128Mi")), "checkpoint")
	require.NoError(t, os.Rename(status+".aside", status))

	next := plugin.New("20", "next")
	Connect(t, n, next)
	Promise(t, "R2", "plugins do not receive an update that could not be written", OnStock(DeliversNothing), func(t require.TestingT) {
		requireDelivered(t, next, plugin.Synchronize, ThreeContainers())
	})
}

// updatesAtOnce updates two containers and their pod at once, and meanwhile repeats updates of the
// pod without resources.
func updatesAtOnce(ctx context.Context, n *node.Node, pod string, containers [2]string, round int) error {
	const times = 4
	var ones, all errgroup.Group
	for _, container := range containers {
		ones.Go(func() error {
			for i := range times {
				if err := update(ctx, n, container, Requests(fmt.Sprint(10+round*times+i), "128Mi")); err != nil {
					return err
				}
			}
			return nil
		})
	}
	done := make(chan struct{})
	for range 3 {
		all.Go(func() (err error) {
			for err == nil && IsOpen(done) {
				_, err = n.CRI().Runtime.UpdatePodSandboxResources(ctx, &runtime.UpdatePodSandboxResourcesRequest{PodSandboxId: pod})
			}
			return err
		})
	}
	asks := ThreeContainers()
	asks.Containers[0].Resources = Requests(fmt.Sprint(10+round), "64Mi")
	err := updatePod(ctx, n, pod, asks)
	err = errors.Join(err, ones.Wait())
	close(done)
	return errors.Join(err, all.Wait())
}

// Whichever of several concurrent updates came last, a plugin receives the same before and after a
// restart.
func TestR2_UpdatesAtOnceAreDeliveredTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	pod := Announced(t, n, "field", ThreeContainers())
	l := NewLifeOf(t, n, pod)
	side, err := n.CRI().Create(WithinAMinute(t), l.Pod, pod, n.CRI().Container("side"))
	require.NoError(t, err)
	var before, after []plugin.Call // one Synchronize each
	for round := range 10 {
		require.NoError(t, updatesAtOnce(WithinAMinute(t), n, l.Pod, [...]string{l.Container, side}, round))
		settled := plugin.New("10", "settled")
		Connect(t, n, settled)
		before = append(before, settled.Calls().Only(plugin.Synchronize)...)
		after = append(after, joinAfterKill(t, n).Calls().Only(plugin.Synchronize)...)
	}
	Promise(t, "R2", "plugins receive the same resources of a pod and its containers before and after a restart", OnStock(DeliversNothing), func(t require.TestingT) {
		for round, call := range after {
			want := podresources.FromPod(before[round].Pods[0])
			require.NotNil(t, want)
			assert.Empty(t, cmp.Diff(want, podresources.FromPod(call.Pods[0])), "(- before restart %d, + after it)", round)
			for _, container := range call.Containers {
				i := slices.IndexFunc(want.Containers, func(c podresources.Container) bool { return c.Name == container.GetName() })
				assert.Empty(t, cmp.Diff(&want.Containers[i].Resources, podresources.FromContainer(container)), "%s agrees with its pod", container.GetName())
			}
		}
	})
}

// A container that was not announced keeps its own resources, and the announcement of the pod does
// not change.
func TestR2_EphemeralContainerSpeaksForItself(t *testing.T) {
	t.Parallel()
	n, p, pod, id := runAnnounced(t)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Container("debug")
	require.NoError(t, podresources.SetContainer(config, Requests("4", "1Gi")))
	container, err := c.Create(ctx, id, pod, config)
	require.NoError(t, err)
	require.NoError(t, update(ctx, n, container, Requests("5", "1Gi")))
	after := joinAfterKill(t, n)
	require.NoError(t, c.Remove(ctx, container))
	Promise(t, "R2", "an ephemeral container has its own resources", OnStock(DeliversNothing), func(t require.TestingT) {
		assert.Equal(t, []string{"CreateContainer 4", "UpdateContainer 5", "PostUpdateContainer 5"},
			CPUsDelivered(p, plugin.CreateContainer, plugin.UpdateContainer, plugin.PostUpdateContainer))
	})
	Promise(t, "R2", "it has them after a restart, too", OnStock(DeliversNothing), Eventually(func(t require.TestingT) {
		synchronized := after.Calls().Only(plugin.Synchronize)[0].Containers
		require.Len(t, synchronized, 1)
		assert.Equal(t, "5", CPUOf(synchronized[0]))
		assert.Equal(t, []string{"RemoveContainer 5"}, CPUsDelivered(after, plugin.RemoveContainer))
	}))
	Promise(t, "R2", "the announcement of its pod does not change", OnStock(DeliversNothing), func(t require.TestingT) {
		requireDelivered(t, p, plugin.PostUpdateContainer, ThreeContainers())
		requireDelivered(t, after, plugin.Synchronize, ThreeContainers())
	})
}
