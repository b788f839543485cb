// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// created is a pod with a container that was not started.
func created(t *testing.T, n target, name string) life {
	t.Helper()
	ctx, c := withinAMinute(t), n.CRI()
	config := c.Pod(name)
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	container, err := c.Create(ctx, pod, config, c.Container("main"))
	require.NoError(t, err)
	return life{n, pod, container}
}

// stateOfContainer is what CRI says of a container.
func (l life) stateOfContainer(ctx context.Context, t require.TestingT) runtime.ContainerState {
	r, err := l.n.CRI().Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: l.container})
	require.NoError(t, err)
	return r.GetStatus().GetState()
}

// A plugin takes its time for the stop of a pod, whose sandbox runs as long.
func TestL11_NoContainerIsStartedOrCreatedInAPodThatIsBeingStopped(t *testing.T) {
	t.Parallel()
	n := startTarget(t, patient)
	p, gate := plugin.New("10", "slow"), newGate(t)
	p.On(plugin.StopPodSandbox, gate.Hold)
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	l := created(t, n, "stopping")

	stopped := inBackground(func() error { return c.StopPod(ctx, l.pod) })
	requireClosed(t, gate.Entered(), "StopPodSandbox")
	errStart := c.Start(ctx, l.container)
	_, errCreate := c.Create(ctx, l.pod, c.Pod("stopping"), c.Container("late"))
	gate.Release()
	require.NoError(t, <-stopped)

	promise(t, "L11", "no container is started in a pod that is being stopped", keptOnStock, func(t require.TestingT) {
		require.Error(t, errStart)
	})
	promise(t, "L11", "no container is created in a pod that is being stopped", keptOnStock, func(t require.TestingT) {
		require.Error(t, errCreate)
	})
	promise(t, "L11", "the errors say why", onStock("they say that the sandbox does not run"), func(t require.TestingT) {
		requireReadable(t, errStart, codes.FailedPrecondition, "is being stopped")
		requireReadable(t, errCreate, codes.FailedPrecondition, "is stopping")
	})
	promise(t, "L11", "plugins are not asked for it", keptOnStock, func(t require.TestingT) {
		assert.Empty(t, p.Calls().Of(l.pod).Only(plugin.StartContainer).Events())
	})
	promise(t, "L1", "they have had the stop of the container by then", onStock("it comes after that of its pod"), func(t require.TestingT) {
		assert.Empty(t, history.Read(p.Calls(), nil).Faults())
	})
	require.NoError(t, c.RemovePod(ctx, l.pod))
	requireNothingLeft(t, n)
}

// connectForStop connects two plugins: one is slow at one event of a container, the
// other at the stop of the pod. Neither is told of the ends of containers, which would
// wait for the one that is at its hook.
func connectForStop(t *testing.T, n target, event plugin.Event) (stops *plugin.Plugin, hook, stop *plugin.Gate) {
	t.Helper()
	slow, stops := plugin.New("10", "slow"), plugin.New("20", "stops")
	slow.Subscribe(event)
	stops.Subscribe(event, plugin.StopPodSandbox)
	hook, stop = newGate(t), newGate(t)
	slow.On(event, hook.Hold)
	stops.On(plugin.StopPodSandbox, stop.Hold)
	connect(t, n, slow, stops)
	return stops, hook, stop
}

// requireStopping waits until a pod is being stopped: a plugin is at its hook. On
// stock that waits for all hooks of other plugins, and comes after the sandbox's end.
func requireStopping(t *testing.T, n target, pod string, hook *plugin.Gate) {
	t.Helper()
	if !runsOnStock {
		requireClosed(t, hook.Entered(), "StopPodSandbox")
		return
	}
	requireSoon(t, "the end of the sandbox", func(ctx context.Context) error {
		r, err := n.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
		if err == nil && r.GetStatus().GetState() == runtime.PodSandboxState_SANDBOX_READY {
			err = errors.New("it is ready")
		}
		return err
	})
}

// The stop of a pod comes while plugins are asked for the start of its container, and
// is at its own hook when they agree.
func TestL11_PodIsStoppedWhileAContainerIsStarted(t *testing.T) {
	t.Parallel()
	n := startTarget(t, patient)
	stops, start, stop := connectForStop(t, n, plugin.StartContainer)
	ctx, c := withinAMinute(t), n.CRI()
	l := created(t, n, "overtaken")

	started := inBackground(func() error { return c.Start(ctx, l.container) })
	requireClosed(t, start.Entered(), "StartContainer")
	stopped := inBackground(func() error { return c.StopPod(ctx, l.pod) })
	requireStopping(t, n, l.pod, stop)
	reached := !isOpen(stop.Entered())
	start.Release()
	if runsOnStock {
		stop.Release() // plugins are called one at a time
	}
	errStart := <-started
	state := l.stateOfContainer(ctx, t)
	stop.Release()
	require.NoError(t, <-stopped)

	promise(t, "L9", "the pod's stop does not wait for a plugin that is at the start of its container", onStock("it does"), func(t require.TestingT) {
		assert.True(t, reached)
	})
	promise(t, "L11", "a start that plugins agreed to after the pod's stop is refused", onStock("it runs in a stopped pod"), func(t require.TestingT) {
		requireReadable(t, errStart, codes.FailedPrecondition)
		assert.NotEqual(t, runtime.ContainerState_CONTAINER_RUNNING, state)
		assert.Empty(t, stops.Calls().Of(l.pod).Only(plugin.StartContainer).Events(), "who is at the pod's stop is not asked for it")
	})
	require.NoError(t, c.RemovePod(ctx, l.pod))
	promise(t, "L11", "nothing is left of the pod", sometimesOnStock("the sockets of its shim are"), func(t require.TestingT) { requireNothingLeft(t, n) })
}

// A container is stored while its pod is being stopped: the plugin that is asked for
// it answers when the stop has listed the containers.
func TestL11_PodIsStoppedWhileAContainerIsCreated(t *testing.T) {
	t.Parallel()
	n := startTarget(t, patient)
	stops, create, stop := connectForStop(t, n, plugin.CreateContainer)
	ctx, c := withinAMinute(t), n.CRI()
	config := c.Pod("overtaken")
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)

	made := inBackground(func() error { _, err := c.Create(ctx, pod, config, c.Container("late")); return err })
	requireClosed(t, create.Entered(), "CreateContainer")
	stopped := inBackground(func() error { return c.StopPod(ctx, pod) })
	requireStopping(t, n, pod, stop)
	reached := !isOpen(stop.Entered())
	create.Release()
	if runsOnStock {
		stop.Release()
	}
	errCreate := <-made
	stop.Release()
	require.NoError(t, <-stopped)

	promise(t, "L9", "the pod's stop does not wait for a plugin that is at the creation of a container", onStock("it does"), func(t require.TestingT) {
		assert.True(t, reached)
	})
	promise(t, "L11", "a container that plugins agreed to after the pod's stop is refused", onStock("it is created"), func(t require.TestingT) {
		requireReadable(t, errCreate, codes.FailedPrecondition)
		assert.Empty(t, stops.Calls().Of(pod).Only(plugin.CreateContainer).Events(), "who is at the pod's stop is not asked for it")
		containers, err := c.Runtime.ListContainers(ctx, &runtime.ListContainersRequest{})
		require.NoError(t, err)
		assert.Empty(t, containers.GetContainers())
	})
	require.NoError(t, c.RemovePod(ctx, pod))
	requireNothingLeft(t, n)
}

// A container that was never started has nothing to stop, and can be started.
func TestL11_ContainerThatWasStoppedBeforeItsStartCanBeStarted(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	p := plugin.New("10", "told")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	l := created(t, n, "patient")
	require.NoError(t, c.Stop(ctx, l.container, 0))
	errStart := c.Start(ctx, l.container)
	promise(t, "L11", "the stop of a container that was not started leaves it to be started", keptOnStock, func(t require.TestingT) { require.NoError(t, errStart) })
	require.NoError(t, n.Settled(ctx, l.container))
	l.end(t)
	promise(t, "L1", "plugins are told of one stop, after the start", onStock("they are told of two"), func(t require.TestingT) {
		assert.Equal(t, whole, p.Calls().Of(l.pod).Events())
	})
	requireNothingLeft(t, n)
}
