// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"slices"
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
		{Set{"update"}, "they have no event"},
		{Set{"adjust", "eventual"}, `"eventual" is no right`},
		{Set{"events.RunPodSandbox"}, ""},
		{Set{"none", "update"}, `"none" is no right`},
		{Set{"events", "adjust.mount"}, `"adjust.mount" is no right`},
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
		{"one of the resources", Set{"adjust.linux.resources.cpu"}, &api.CreateContainerResponse{Adjust: &api.ContainerAdjustment{Linux: &api.LinuxContainerAdjustment{
			Resources: &api.LinuxResources{Cpu: &api.LinuxCPU{}, Devices: []*api.LinuxDeviceCgroup{{Allow: true}}}}}}, []string{"adjust.linux.resources.devices"}},
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

// A field that NRI adds changes this list: decide then whether its content needs paths of its own.
func TestPaths(t *testing.T) {
	require.Equal(t, []string{
		"adjust.CDI_devices", "adjust.annotations", "adjust.args", "adjust.env", "adjust.hooks",
		"adjust.linux.cgroups_path", "adjust.linux.devices", "adjust.linux.io_priority", "adjust.linux.memory_policy",
		"adjust.linux.namespaces", "adjust.linux.net_devices", "adjust.linux.oom_score_adj", "adjust.linux.rdt",
		"adjust.linux.resources.blockio_class", "adjust.linux.resources.cpu", "adjust.linux.resources.devices",
		"adjust.linux.resources.hugepage_limits", "adjust.linux.resources.memory", "adjust.linux.resources.pids",
		"adjust.linux.resources.rdt_class", "adjust.linux.resources.unified",
		"adjust.linux.scheduler", "adjust.linux.seccomp_policy", "adjust.linux.sysctl", "adjust.mounts", "adjust.rlimits",
		"events.CreateContainer", "events.PostCreateContainer", "events.PostStartContainer", "events.PostUpdateContainer",
		"events.PostUpdatePodSandbox", "events.RemoveContainer", "events.RemovePodSandbox", "events.RunPodSandbox",
		"events.StartContainer", "events.StopContainer", "events.StopPodSandbox", "events.UpdateContainer",
		"events.UpdatePodSandbox", "events.ValidateContainerAdjustment",
		"evict", "update",
	}, Paths())
	for _, p := range Paths() {
		require.NoError(t, Set{"events", p}.Check(), p)
	}
}

// Every message that a plugin answers with is read: those that are not among the changing ones have
// no fields, or the verdict of a validator.
func TestOtherAnswersAskForNothing(t *testing.T) {
	methods := api.File_pkg_api_api_proto.Services().ByName("Plugin").Methods()
	for i := range methods.Len() {
		answer := methods.Get(i).Output()
		if slices.ContainsFunc(changing, func(m proto.Message) bool { return nameOf(m) == answer.FullName() }) {
			continue
		}
		switch name := answer.Name(); name {
		case "ConfigureResponse", "ValidateContainerAdjustmentResponse":
		default:
			require.Zero(t, answer.Fields().Len(), name)
		}
	}
}
