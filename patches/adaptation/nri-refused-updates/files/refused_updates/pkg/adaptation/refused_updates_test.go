// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/containerd/nri/internal/lifecycle"
	"github.com/containerd/nri/pkg/api"
)

func memoryLimit(bytes int64) *api.LinuxResources {
	return &api.LinuxResources{Memory: &api.LinuxMemory{Limit: api.Int64(bytes)}}
}

func limitOf(r *api.LinuxResources) int64 { return r.GetMemory().GetLimit().GetValue() }

// What holds has all that the pod or container has, and says which limits it does not have.
func TestLimitsThatAreNotSet(t *testing.T) {
	for name, test := range map[string]struct{ has, want *api.LinuxResources }{
		"nothing": {nil, &api.LinuxResources{
			Memory: &api.LinuxMemory{Limit: api.Int64(-1)}, Cpu: &api.LinuxCPU{Quota: api.Int64(-1)}}},
		"as CRI writes it": {
			&api.LinuxResources{Memory: &api.LinuxMemory{Limit: api.Int64(0)}, Cpu: &api.LinuxCPU{Quota: api.Int64(0), Shares: api.UInt64(2)}},
			&api.LinuxResources{Memory: &api.LinuxMemory{Limit: api.Int64(-1)}, Cpu: &api.LinuxCPU{Quota: api.Int64(-1), Shares: api.UInt64(2)}},
		},
		"limits": {
			&api.LinuxResources{Memory: &api.LinuxMemory{Limit: api.Int64(300)}, Cpu: &api.LinuxCPU{Quota: api.Int64(5), Cpus: "0-1"}},
			&api.LinuxResources{Memory: &api.LinuxMemory{Limit: api.Int64(300)}, Cpu: &api.LinuxCPU{Quota: api.Int64(5), Cpus: "0-1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := proto.Clone(test.has)
			got := withLimits(test.has)
			require.True(t, proto.Equal(test.want, got), "%v", got)
			require.True(t, proto.Equal(before, test.has), "it belongs to the runtime")
		})
	}
}

// The event that says what holds goes through all that an update goes through.
func TestEventThatSaysWhatHolds(t *testing.T) {
	pod := &api.PodSandbox{Id: "p", Linux: &api.LinuxPodSandbox{PodResources: memoryLimit(300), PodOverhead: memoryLimit(20)}}
	ctr := &api.Container{Id: "c", PodSandboxId: "p", Linux: &api.LinuxContainer{Resources: memoryLimit(66)}}
	r := &Adaptation{lookup: func(of, container string) (*api.PodSandbox, *api.Container) {
		switch {
		case of != "p":
			return nil, nil
		case container != "c":
			return pod, nil
		}
		return pod, ctr
	}}
	holds := func(kind lifecycle.Kind, pod, container string) any {
		ev, there := r.current(lifecycle.Event{Kind: kind, Pod: pod, Container: container, Late: true})
		if !there {
			return nil
		}
		return wire(ev)
	}

	of, is := holds(lifecycle.UpdatePodSandbox, "p", "").(*UpdatePodSandboxRequest)
	require.True(t, is)
	require.EqualValues(t, 300, limitOf(of.GetLinuxResources()))
	require.EqualValues(t, 20, limitOf(of.GetOverheadLinuxResources()))
	require.Same(t, pod, of.GetPod())

	update, is := holds(lifecycle.UpdateContainer, "p", "c").(*UpdateContainerRequest)
	require.True(t, is)
	require.EqualValues(t, 66, limitOf(update.GetLinuxResources()))
	require.Same(t, ctr, update.GetContainer())
	require.Same(t, pod, update.GetPod())

	require.Nil(t, holds(lifecycle.UpdatePodSandbox, "gone", ""))
	require.Nil(t, holds(lifecycle.UpdateContainer, "p", "gone"))
	ctr.Linux.Resources = nil
	require.Nil(t, holds(lifecycle.UpdateContainer, "p", "c"), "the runtime cannot read the container")
	pod.Linux.PodOverhead = nil
	of, is = holds(lifecycle.UpdatePodSandbox, "p", "").(*UpdatePodSandboxRequest)
	require.True(t, is)
	require.NotNil(t, of.GetOverheadLinuxResources(), "it may have received one that did not hold")
}

// A runtime without a lookup sends the update itself, if the plugin was skipped for it.
func TestLateUpdateIsSentAsItIs(t *testing.T) {
	late := lifecycle.Event{Kind: lifecycle.UpdateContainer, Pod: "p", Container: "c", Late: true,
		Request: &changedContainer{request: &UpdateContainerRequest{LinuxResources: memoryLimit(300)}}}
	ev, there := (&Adaptation{}).current(late)
	require.True(t, there)
	require.Equal(t, late, ev)
}
