// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// shares are a pod or container's CPU shares before an update, and those that the update asks for.
const (
	sharesBefore = 300
	sharesAsked  = 700
)

// An update asks for other CPU shares of a pod or container, and for other CPUs of a container.
type update func(ctx context.Context, shares int64, cpus string) error

func updateOf(n Runtime, container string) update {
	return func(ctx context.Context, shares int64, cpus string) error {
		_, err := n.CRI().Runtime.UpdateContainerResources(ctx, &runtime.UpdateContainerResourcesRequest{
			ContainerId: container, Linux: &runtime.LinuxContainerResources{CpuShares: shares, CpusetCpus: cpus}})
		return err
	}
}

func updateOfPod(n Runtime, pod string) update {
	return func(ctx context.Context, shares int64, _ string) error {
		_, err := n.CRI().Runtime.UpdatePodSandboxResources(ctx, &runtime.UpdatePodSandboxResourcesRequest{
			PodSandboxId: pod, Resources: &runtime.LinuxContainerResources{CpuShares: shares}})
		return err
	}
}

func shares(r *api.LinuxResources) int64 { return int64(r.GetCpu().GetShares().GetValue()) }

// sharesOf returns the CPU shares that a container has.
func sharesOf(t require.TestingT, n Runtime, container string) int64 {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	status, err := n.CRI().Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: container})
	require.NoError(t, err)
	return status.GetStatus().GetResources().GetLinux().GetCpuShares()
}

// updatesOf returns the CPU shares of each update that a plugin has received.
func updatesOf(p interface{ Calls() plugin.Calls }, event plugin.Event) (all []int64) {
	for _, call := range p.Calls().Only(event) {
		all = append(all, shares(call.Resources))
	}
	return all
}

// refuse lets a plugin reject an update. The plugins before it then receive what holds.
func refuse(t T, event plugin.Event, of func(Runtime, Life) update) {
	n := t.Runtime()
	agrees, refuses, behind := NewPlugin(t, "10", "agrees"), NewPlugin(t, "20", "refuses"), NewPlugin(t, "30", "behind")
	Connect(t, n, agrees, refuses, behind)
	l := NewLife(t, n, "updated")
	ask := of(n, l)
	require.NoError(t, ask(WithinAMinute(t), sharesBefore, ""))
	refuses.On(event, plugin.Fail("not now"))

	require.ErrorContains(t, ask(WithinAMinute(t), sharesAsked, ""), "not now")

	t.Promise("L26", "a plugin that agreed to a refused update receives what holds", OnStock("it received the refused values last"), Eventually(func(t require.TestingT) {
		assert.Equal(t, []int64{sharesBefore, sharesAsked, sharesBefore}, updatesOf(agrees, event))
	}))
	refuses.On(event, nil)
	require.NoError(t, ask(WithinAMinute(t), sharesAsked, ""))
	all := updatesOf(agrees, event)
	assert.EqualValues(t, sharesAsked, all[len(all)-1], "it is asked again")
	l.End(t)
	t.Promise("L26", "other plugins do not", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, []int64{sharesBefore, sharesAsked, sharesAsked}, updatesOf(refuses, event))
		assert.Equal(t, []int64{sharesBefore, sharesAsked}, updatesOf(behind, event))
	})
}

var _ = Container.has("L26_RefusedUpdateOfAContainerIsTakenBack", Needs{}, func(t T) {
	refuse(t, plugin.UpdateContainer, func(n Runtime, l Life) update { return updateOf(n, l.Container) })
})

var _ = Pod.has("L26_RefusedUpdateOfAPodIsTakenBack", Needs{}, func(t T) {
	refuse(t, plugin.UpdatePodSandbox, func(n Runtime, l Life) update { return updateOfPod(n, l.Pod) })
})

// A plugin that hangs in an update may still act on it.
var _ = Container.has("L26_UpdateWhoseCallerLeftIsTakenBack", Within(3*time.Second), func(t T) {
	n := t.Runtime()
	agrees, slow, gate := NewPlugin(t, "10", "agrees"), NewPlugin(t, "20", "slow"), plugin.NewGate()
	defer gate.Release()
	Connect(t, n, agrees, slow)
	l := NewLife(t, n, "updated")
	ask := updateOf(n, l.Container)
	require.NoError(t, ask(WithinAMinute(t), sharesBefore, ""))
	slow.On(plugin.UpdateContainer, func(ctx context.Context, call *plugin.Call) error {
		of := &api.ContainerUpdate{}
		of.SetContainerId(call.Container.GetId())
		of.SetLinuxCPUShares(sharesAsked)
		call.Update = []*api.ContainerUpdate{of}
		return gate.Hold(ctx, call)
	})
	ctx, cancel := context.WithCancel(WithinAMinute(t))
	left := make(chan error, 1)
	go func() { left <- ask(ctx, sharesAsked, "") }()
	RequireClosed(t, gate.Entered(), "the update")
	slow.On(plugin.UpdateContainer, nil)
	cancel()
	require.Error(t, <-left)
	gate.Release()

	t.Promise("L26", "the plugins that received an update receive what holds when its caller has left", OnStock("they received the refused values last"), Eventually(func(t require.TestingT) {
		for _, p := range []*plugin.Plugin{agrees, slow} {
			assert.Equal(t, []int64{sharesBefore, sharesAsked, sharesBefore}, updatesOf(p, plugin.UpdateContainer), p.Name())
		}
	}))
	t.Promise("L26", "the answer to an update whose caller has left changes nothing", KeptOnStock, func(t require.TestingT) {
		assert.EqualValues(t, sharesBefore, sharesOf(t, n, l.Container))
	})
	l.End(t)
})

// A plugin registers while another is asked for an update, which this one then rejects.
var _ = Joining.has("L26_PluginThatRegistersDuringAnUpdateReceivesWhatHolds", Patient, func(t T) {
	n := t.Runtime()
	slow, joining, gate := NewPlugin(t, "10", "slow"), NewPlugin(t, "20", "joins"), NewGate(t)
	Connect(t, n, slow)
	l := NewLife(t, n, "updated")
	ask := updateOf(n, l.Container)
	require.NoError(t, ask(WithinAMinute(t), sharesBefore, ""))
	slow.On(plugin.UpdateContainer, func(ctx context.Context, call *plugin.Call) error {
		return errors.Join(gate.Hold(ctx, call), errors.New("not now"))
	})
	refused := InBackground(func() error { return ask(WithinAMinute(t), sharesAsked, "") })
	RequireClosed(t, gate.Entered(), "the update")

	errJoined := <-ConnectInBackground(WithinMoments(t), t, n, joining)
	gate.Release()
	require.ErrorContains(t, RequireEnds(t, refused, "the update"), "not now")

	t.Promise("L13", "a plugin can join while another is asked for an update", OnStock(CannotJoin), func(t require.TestingT) {
		require.NoError(t, errJoined)
	})
	t.Promise("L26", "it receives what holds", OnStock(CannotJoin), Eventually(func(t require.TestingT) {
		assert.Equal(t, []int64{sharesBefore}, updatesOf(joining, plugin.UpdateContainer))
	}))
	slow.On(plugin.UpdateContainer, nil)
	l.End(t)
})

// A plugin freezes in an update. It stays connected by its own failure policy, and the next update
// is not sent to it.
var _ = Container.has("L26_PluginThatWasSkippedReceivesWhatHolds", Within(3*time.Second), func(t T) {
	n := t.Runtime()
	frozen := JoinProcess(t, n, plugin.Script{
		Index: "10", Name: "frozen",
		Policy:  &api.FailurePolicy{KeepConnected: true},
		Answers: map[plugin.Event]plugin.Answer{plugin.UpdateContainer: {Freeze: true}},
	})
	l := NewLife(t, n, "updated")
	ask := updateOf(n, l.Container)
	require.NoError(t, ask(WithinAMinute(t), sharesBefore, ""))
	require.NoError(t, frozen.Frozen(WithinAMinute(t)))

	require.NoError(t, ask(WithinAMinute(t), sharesAsked, ""))
	require.NoError(t, frozen.Thaw())

	t.Promise("L26", "a plugin that was skipped for an update receives what holds", OnStock(NoPolicies), Eventually(func(t require.TestingT) {
		assert.Equal(t, []int64{sharesBefore, sharesAsked}, updatesOf(frozen, plugin.UpdateContainer))
	}))
	l.End(t)
})

// noSuchCPU is a CPU that no node has: the kernel rejects it.
const noSuchCPU = "8191"

var _ = Container.has("L26_UpdateThatTheRuntimeFailsIsTakenBack", Needs{}, func(t T) {
	n := t.Runtime()
	agrees := NewPlugin(t, "10", "agrees")
	Connect(t, n, agrees)
	l := NewLife(t, n, "updated")
	ask := updateOf(n, l.Container)
	require.NoError(t, ask(WithinAMinute(t), sharesBefore, ""))

	require.Error(t, ask(WithinAMinute(t), sharesAsked, noSuchCPU))

	assert.EqualValues(t, sharesBefore, sharesOf(t, n, l.Container), "it has what it had")
	t.Promise("L26", "a plugin that agreed to an update receives what holds if the runtime fails it", OnStock("it received the failed values last"), Eventually(func(t require.TestingT) {
		assert.Equal(t, []int64{sharesBefore, sharesAsked, sharesBefore}, updatesOf(agrees, plugin.UpdateContainer))
	}))
	l.End(t)
})

// hasAsked asserts what a plugin receives of a pod and a container that were updated.
func hasAsked(t require.TestingT, pod *api.PodSandbox, container *api.Container) {
	assert.EqualValues(t, sharesAsked, shares(pod.GetLinux().GetPodResources()), "the pod")
	assert.EqualValues(t, sharesAsked, shares(container.GetLinux().GetResources()), "the container")
}

// resize updates a pod and its container.
func resize(t T, n Runtime, l Life) {
	require.NoError(t, updateOfPod(n, l.Pod)(WithinAMinute(t), sharesAsked, ""))
	require.NoError(t, updateOf(n, l.Container)(WithinAMinute(t), sharesAsked, ""))
}

var _ = Container.has("L26_EventsAfterAnUpdateCarryWhatHolds", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "resized")
	Connect(t, n, p)
	l := NewLife(t, n, "resized")
	resize(t, n, l)

	t.Promise("L26", "the events after an update carry what the pod and its container have", OnStock("the pod is as it was created"), func(t require.TestingT) {
		calls := p.Calls().Of(l.Pod)
		assert.EqualValues(t, sharesAsked, shares(calls.Only(plugin.PostUpdatePodSandbox)[0].Pod.GetLinux().GetPodResources()))
		after := calls.Only(plugin.PostUpdateContainer)[0]
		hasAsked(t, after.Pod, after.Container)
	})
	late := NewPlugin(t, "20", "late")
	Connect(t, n, late)
	t.Promise("L26", "so does Synchronize", OnStock("the pod is as it was created"), func(t require.TestingT) {
		list := late.Calls().Only(plugin.Synchronize)[0]
		require.Len(t, list.Pods, 1)
		require.Len(t, list.Containers, 1)
		hasAsked(t, list.Pods[0], list.Containers[0])
	})
	l.End(t)
})

var _ = Restart.has("L26_SynchronizeAfterARestartCarriesWhatHolds", Needs{}.AndRestarts(), func(t T) {
	n := t.Runtime()
	l := NewLife(t, n, "resized")
	resize(t, n, l)
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	p := NewPlugin(t, "10", "late")
	Connect(t, n, p)

	t.Promise("L26", "a pod from before a restart has what its last update gave it", OnStock("it is as it was created"), func(t require.TestingT) {
		list := p.Calls().Only(plugin.Synchronize)[0]
		require.Len(t, list.Pods, 1)
		require.Len(t, list.Containers, 1)
		hasAsked(t, list.Pods[0], list.Containers[0])
	})
	l.End(t)
})
