// SPDX-License-Identifier: Apache-2.0

package updates

import (
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	field "github.com/hookline-nri/hookline/updates/internal/nri/acknowledge"
)

func TestAcknowledge(t *testing.T) {
	update := &api.ContainerUpdate{ContainerId: "c"}
	require.False(t, field.Asked(update))
	Acknowledge(update)
	require.True(t, field.Asked(update))
}

func TestHeld(t *testing.T) {
	has := &api.Container{Linux: &api.LinuxContainer{Resources: &api.LinuxResources{
		Memory:         &api.LinuxMemory{Limit: api.Int64(300), Swap: api.Int64(300)},
		Cpu:            &api.LinuxCPU{Shares: api.UInt64(512), Quota: api.Int64(-1), Cpus: "0-1"},
		HugepageLimits: []*api.HugepageLimit{{PageSize: "1GB", Limit: 1}},
		Unified:        map[string]string{"memory.high": "200", "io.weight": "5"},
	}}}
	for name, test := range map[string]struct {
		ask  func(*api.ContainerUpdate)
		held bool
	}{
		"nothing":           {func(*api.ContainerUpdate) {}, true},
		"one value":         {func(u *api.ContainerUpdate) { u.SetLinuxCPUShares(512) }, true},
		"another":           {func(u *api.ContainerUpdate) { u.SetLinuxCPUShares(513) }, false},
		"no limit":          {func(u *api.ContainerUpdate) { u.SetLinuxCPUQuota(-1) }, true},
		"a limit":           {func(u *api.ContainerUpdate) { u.SetLinuxCPUQuota(5) }, false},
		"0 changes nothing": {func(u *api.ContainerUpdate) { u.SetLinuxMemoryLimit(0) }, true},
		"two":               {func(u *api.ContainerUpdate) { u.SetLinuxCPUSetCPUs("0-1"); u.SetLinuxMemoryLimit(300) }, true},
		"one of two":        {func(u *api.ContainerUpdate) { u.SetLinuxCPUSetCPUs("0-1"); u.SetLinuxMemoryLimit(301) }, false},
		"what it has not":   {func(u *api.ContainerUpdate) { u.SetLinuxCPUSetMems("1") }, false},
		"huge pages":        {func(u *api.ContainerUpdate) { u.AddLinuxHugepageLimit("1GB", 1) }, false},
		"a device": {func(u *api.ContainerUpdate) {
			u.Linux = &api.LinuxContainerUpdate{Resources: &api.LinuxResources{Devices: []*api.LinuxDeviceCgroup{{Allow: true}}}}
		}, false},
		"cgroup v2":           {func(u *api.ContainerUpdate) { u.AddLinuxUnified("io.weight", "5") }, true},
		"cgroup v2, not held": {func(u *api.ContainerUpdate) { u.AddLinuxUnified("io.weight", "6") }, false},
		"cgroup v2, no key":   {func(u *api.ContainerUpdate) { u.AddLinuxUnified("memory.max", "6") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			update := &api.ContainerUpdate{ContainerId: "c"}
			test.ask(update)
			Acknowledge(update)
			require.Equal(t, test.held, Held(update, has))
		})
	}
	require.True(t, Held(nil, nil))
	require.True(t, Held(&api.ContainerUpdate{}, &api.Container{}))
	update := &api.ContainerUpdate{}
	update.SetLinuxCPUShares(5)
	require.False(t, Held(update, nil))
}
