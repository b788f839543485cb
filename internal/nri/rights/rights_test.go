// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/containerd/nri/pkg/api"
)

func TestRightsAreChecked(t *testing.T) {
	for _, c := range []struct {
		set     Set
		problem string // a part of the error, empty if there is none
	}{
		{Set{}, ""},
		{Set{"none"}, ""},
		{Set{"events", "adjust.linux", "adjust.mounts", "update", "evict"}, ""},
		{Set{"events.RunPodSandbox"}, ""},
		{Set{"none", "update"}, `"none" is no right`},
		{Set{"adjust.mount"}, `"adjust.mount" is no right`},
		{Set{"adjust.mounts.source"}, `"adjust.mounts.source" is no right`},
		{Set{"RunPodSandbox"}, `"RunPodSandbox" is no right`},
		{Set{"adjust."}, `"adjust." is no right`},
		{Set{""}, `"" is no right`},
	} {
		err := c.set.Check()
		if c.problem == "" {
			require.NoError(t, err, "%v", c.set)
			continue
		}
		require.ErrorContains(t, err, c.problem, "%v", c.set)
	}
}

func TestSubscriptionIsComparedWithRights(t *testing.T) {
	events := func(names ...string) api.EventMask { return api.MustParseEventMask(names...) }
	require.Empty(t, Set{}.LacksEvents(api.ValidEvents))
	require.Empty(t, Set{"events"}.LacksEvents(api.ValidEvents))
	require.Len(t, Set{"none"}.LacksEvents(api.ValidEvents), int(api.Event_LAST)-1)
	limited := Set{"events.RunPodSandbox", "events.StopPodSandbox", "update"}
	require.Empty(t, limited.LacksEvents(events("RunPodSandbox", "StopPodSandbox")))
	require.Equal(t, []string{"events.CreateContainer"}, limited.LacksEvents(events("RunPodSandbox", "CreateContainer")))
}

func TestMessagesAreComparedWithRights(t *testing.T) {
	updates := []*api.ContainerUpdate{{ContainerId: "another"}}
	evictions := []*api.ContainerEviction{{ContainerId: "another"}}
	everything := &api.CreateContainerResponse{
		Adjust: &api.ContainerAdjustment{
			Mounts:     []*api.Mount{{Destination: "/here"}},
			Env:        []*api.KeyValue{{Key: "-REMOVED"}},
			Hooks:      &api.Hooks{},
			CDIDevices: []*api.CDIDevice{{Name: "vendor.com/gpu=0"}},
			Linux:      &api.LinuxContainerAdjustment{Devices: []*api.LinuxDevice{{Path: "/dev/kmsg"}}, Sysctl: map[string]string{"a": "b"}},
		},
		Update: updates,
		Evict:  evictions,
	}
	for _, c := range []struct {
		name  string
		set   Set
		asks  proto.Message
		lacks []string
	}{
		{"no limit", Set{}, everything, nil},
		{"nothing is allowed", Set{"none"}, everything,
			[]string{"adjust.CDI_devices", "adjust.env", "adjust.hooks", "adjust.linux.devices", "adjust.linux.sysctl", "adjust.mounts", "evict", "update"}},
		{"some fields are", Set{"adjust.env", "adjust.linux.devices", "update"}, everything,
			[]string{"adjust.CDI_devices", "adjust.hooks", "adjust.linux.sysctl", "adjust.mounts", "evict"}},
		{"all fields below one are", Set{"adjust.linux"}, &api.CreateContainerResponse{Adjust: &api.ContainerAdjustment{Linux: everything.Adjust.Linux}}, nil},
		{"a right is no prefix of a name", Set{"adjust.linux.net"}, &api.CreateContainerResponse{Adjust: &api.ContainerAdjustment{Linux: &api.LinuxContainerAdjustment{
			NetDevices: map[string]*api.LinuxNetDevice{"eth0": {}}}}}, []string{"adjust.linux.net_devices"}},
		{"all adjustments", Set{"adjust"}, everything, []string{"evict", "update"}},
		{"an answer that asks for nothing", Set{"none"}, &api.CreateContainerResponse{Adjust: &api.ContainerAdjustment{Linux: &api.LinuxContainerAdjustment{}}}, nil},
		{"an answer of another kind", Set{"none"}, &api.RunPodSandboxResponse{}, nil},
		{"no answer", Set{"none"}, (*api.StopContainerResponse)(nil), nil},
		{"a validator's answer", Set{"none"}, &api.ValidateContainerAdjustmentResponse{Reject: true, Reason: "too many"}, nil},
		{"an update of the container itself", Set{"events"}, &api.UpdateContainerResponse{Update: updates, Evict: evictions}, []string{"evict", "update"}},
		{"an update at a stop", Set{"events"}, &api.StopContainerResponse{Update: updates}, []string{"update"}},
		{"an update at Synchronize", Set{"events"}, &api.SynchronizeResponse{Update: updates, More: true}, []string{"update"}},
		{"an update by itself", Set{"update"}, &api.UpdateContainersRequest{Update: updates, Evict: evictions}, []string{"evict"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ElementsMatch(t, c.lacks, c.set.Lacks(c.asks))
		})
	}
}

// Each field of each message in which a plugin asks for changes has a path, or is known to be
// harmless: a field that NRI adds is found here before it is missed.
func TestEveryFieldHasARight(t *testing.T) {
	paths := Paths()
	require.Contains(t, paths, "adjust.hooks")
	require.Contains(t, paths, "adjust.linux.seccomp_policy")
	require.Contains(t, paths, "events.ValidateContainerAdjustment")
	require.NotContains(t, paths, "adjust")
	require.NotContains(t, paths, "adjust.linux")
	require.NotContains(t, paths, "more")
	for _, p := range paths {
		require.NoError(t, Set{p}.Check(), p)
	}
}
