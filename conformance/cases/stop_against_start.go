// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// A plugin is slow to stop a pod, whose sandbox runs meanwhile.
var _ = Teardown.has("L11_NoContainerIsStartedOrCreatedInAPodThatIsBeingStopped", Patient, func(t T) {
	n := t.Runtime()
	p, gate := NewPlugin(t, "10", "slow"), NewGate(t)
	p.On(plugin.StopPodSandbox, gate.Hold)
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	l := NewCreated(t, n, "stopping")

	stopped := InBackground(func() error { return c.StopPod(ctx, l.Pod) })
	RequireClosed(t, gate.Entered(), "StopPodSandbox")
	errStart := c.Start(ctx, l.Container)
	_, errCreate := c.Create(ctx, l.Pod, c.Pod("stopping"), c.Container("late"))
	gate.Release()
	require.NoError(t, <-stopped)

	t.Promise("L11", "no container is started in a pod that is being stopped", KeptOnStock, func(t require.TestingT) {
		require.Error(t, errStart)
	})
	t.Promise("L11", "no container is created in a pod that is being stopped", KeptOnStock, func(t require.TestingT) {
		require.Error(t, errCreate)
	})
	t.Words("L11", "the errors say why", OnStock("they say that the sandbox does not run"), func(t require.TestingT) {
		RequireReadable(t, errStart, codes.FailedPrecondition, "is being stopped")
		RequireReadable(t, errCreate, codes.FailedPrecondition, "is stopping")
	})
	t.Promise("L11", "plugins are not asked about the start", KeptOnStock, func(t require.TestingT) {
		assert.Empty(t, p.Calls().Of(l.Pod).Only(plugin.StartContainer).Events())
	})
	t.Promise("L1", "plugins receive the stop of the container before that of its pod", OnStock("it comes after that of its pod"), func(t require.TestingT) {
		assert.Empty(t, history.Read(p.Calls(), nil).Faults())
	})
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	RequireNothingLeft(t, n)
})

// connectForStop connects two plugins: one is slow to answer one event of a container, the
// other is slow to answer the stop of the pod. Neither subscribes to ends of containers, which
// would wait for the first one.
func connectForStop(t T, n Runtime, event plugin.Event) (stops *plugin.Plugin, hook, stop *plugin.Gate) {
	t.Helper()
	slow, stops := NewPlugin(t, "10", "slow"), NewPlugin(t, "20", "stops")
	slow.Subscribe(event)
	stops.Subscribe(event, plugin.StopPodSandbox)
	hook, stop = NewGate(t), NewGate(t)
	slow.On(event, hook.Hold)
	stops.On(plugin.StopPodSandbox, stop.Hold)
	Connect(t, n, slow, stops)
	return stops, hook, stop
}

// begins reports whether the stop of a pod begins within moments: a plugin has received it, or,
// where that waits for the hooks of other plugins, the sandbox has ended. A runtime may also
// first finish its other operation in the pod.
func begins(t T, n Runtime, pod string, hook *plugin.Gate) bool {
	t.Helper()
	return wait.Until(WithinMoments(t), "the stop of the pod", func(ctx context.Context) error {
		if !IsOpen(hook.Entered()) {
			return nil
		}
		r, err := n.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
		if err == nil && r.GetStatus().GetState() == runtime.PodSandboxState_SANDBOX_READY {
			err = errors.New("the pod is Ready")
		}
		return err
	}) == nil
}

// A pod is stopped while plugins are asked about the start of its container. They approve the
// start while the hook of the stop runs.
var _ = Teardown.has("L11_PodIsStoppedWhileAContainerIsStarted", Patient, func(t T) {
	n := t.Runtime()
	stops, start, stop := connectForStop(t, n, plugin.StartContainer)
	ctx, c := WithinAMinute(t), n.CRI()
	l := NewCreated(t, n, "overtaken")

	started := InBackground(func() error { return c.Start(ctx, l.Container) })
	RequireClosed(t, start.Entered(), "StartContainer")
	stopped := InBackground(func() error { return c.StopPod(ctx, l.Pod) })
	begun := begins(t, n, l.Pod, stop)
	reached := !IsOpen(stop.Entered())
	start.Release()
	if !reached {
		stop.Release() // plugins are called one at a time
	}
	errStart := <-started
	state := StateOfContainer(ctx, t, l)
	stop.Release()
	require.NoError(t, <-stopped)
	if !begun { // a container that was started before has ended with the stop
		state = StateOfContainer(ctx, t, l)
	}

	t.Promise("L9", "the pod's stop does not wait for a plugin that handles the start of its container", OnStock("it waits"), func(t require.TestingT) {
		assert.True(t, reached)
	})
	t.Promise("L11", "a start that plugins approved after the pod's stop is rejected", OnStock("the container runs in a stopped pod"), func(t require.TestingT) {
		assert.NotEqual(t, runtime.ContainerState_CONTAINER_RUNNING, state)
		if !begun {
			return
		}
		require.Error(t, errStart)
		assert.Empty(t, stops.Calls().Of(l.Pod).Only(plugin.StartContainer).Events(), "a plugin that handles the pod's stop is not asked about the start")
	})
	t.Words("L11", "the error of the start has a code", OnStock("the container runs in a stopped pod"), func(t require.TestingT) {
		RequireReadable(t, errStart, codes.FailedPrecondition)
	})
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	t.Promise("L11", "nothing is left of the pod", SometimesOnStock("the sockets of its shim are left"), func(t require.TestingT) { RequireNothingLeft(t, n) })
})

// A container is stored while its pod is being stopped: the plugin that is asked about the
// container answers after the stop has listed the containers.
var _ = Teardown.has("L11_PodIsStoppedWhileAContainerIsCreated", Patient, func(t T) {
	n := t.Runtime()
	stops, create, stop := connectForStop(t, n, plugin.CreateContainer)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("overtaken")
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)

	made := InBackground(func() error { _, err := c.Create(ctx, pod, config, c.Container("late")); return err })
	RequireClosed(t, create.Entered(), "CreateContainer")
	stopped := InBackground(func() error { return c.StopPod(ctx, pod) })
	begun := begins(t, n, pod, stop)
	reached := !IsOpen(stop.Entered())
	create.Release()
	if !reached {
		stop.Release()
	}
	errCreate := <-made
	stop.Release()
	require.NoError(t, <-stopped)

	t.Promise("L9", "the pod's stop does not wait for a plugin that handles the creation of a container", OnStock("it waits"), func(t require.TestingT) {
		assert.True(t, reached)
	})
	t.Promise("L11", "a container that plugins approved after the pod's stop is rejected", OnStock("it is created"), func(t require.TestingT) {
		if !begun { // it was created before the stop
			require.NoError(t, noneRuns(ctx, c.Runtime))
			return
		}
		require.Error(t, errCreate)
		assert.Empty(t, stops.Calls().Of(pod).Only(plugin.CreateContainer).Events(), "a plugin that handles the pod's stop is not asked about the container")
		containers, err := c.Runtime.ListContainers(ctx, &runtime.ListContainersRequest{})
		require.NoError(t, err)
		assert.Empty(t, containers.GetContainers())
	})
	t.Words("L11", "the error of the creation has a code", OnStock("it is created"), func(t require.TestingT) {
		RequireReadable(t, errCreate, codes.FailedPrecondition)
	})
	require.NoError(t, c.RemovePod(ctx, pod))
	RequireNothingLeft(t, n)
})

// A container is stopped before it was started. A runtime may still let it start, or not: the
// events that plugins receive depend on that.
var _ = Container.has("L1_ContainerThatWasStoppedBeforeItsStartHasOneStop", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "receives")
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	l := NewCreated(t, n, "patient")
	require.NoError(t, c.Stop(ctx, l.Container, 0))
	errStart := c.Start(ctx, l.Container)
	t.Words("L11", "a container that was stopped before its start can still be started", KeptOnStock, func(t require.TestingT) { require.NoError(t, errStart) })
	received := Whole
	if errStart == nil {
		require.NoError(t, n.Settled(ctx, l.Container))
	} else { // it has ended
		received = slices.Concat(Whole[:3], EveryEnd)
	}
	l.End(t)
	t.Promise("L1", "plugins receive one stop, after the start if the container is started", OnStock("they receive two"), func(t require.TestingT) {
		assert.Equal(t, received, p.Calls().Of(l.Pod).Events())
	})
	RequireNothingLeft(t, n)
})
