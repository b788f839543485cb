// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin that pins CPUs updates the other containers with each creation. Its last update is the
// one that holds, whatever is created at the same time, and in whatever order it names the
// containers.
func TestL1_LastUpdateOfOtherContainersHolds(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("shared")
	shared := NewLifeOf(t, n, config)
	others := []string{shared.Container}
	for i := range 4 {
		container, err := c.Create(ctx, shared.Pod, config, c.Container(fmt.Sprint("more", i)))
		require.NoError(t, err)
		require.NoError(t, c.Start(ctx, container))
		others = append(others, container)
	}
	pods := map[string]*runtime.PodSandboxConfig{}
	for i := range 6 {
		own := c.Pod(fmt.Sprint("own", i))
		pod, err := c.RunPod(ctx, own)
		require.NoError(t, err)
		pods[pod] = own
	}

	var mu sync.Mutex
	said := int64(1000)
	pins := plugin.New("10", "pins")
	pins.On(plugin.CreateContainer, func(_ context.Context, call *plugin.Call) error {
		mu.Lock()
		defer mu.Unlock()
		said++
		for _, other := range others {
			u := &api.ContainerUpdate{ContainerId: other}
			u.SetLinuxCPUShares(uint64(said))
			call.Update = append(call.Update, u)
		}
		slices.Reverse(others) // plugins keep them in maps
		return nil
	})
	Connect(t, n, pins)
	created := make(chan error)
	for pod, own := range pods {
		go func() { _, err := c.Create(ctx, pod, own, c.Container("own")); created <- err }()
	}
	for range pods {
		require.NoError(t, <-created)
	}
	Promise(t, "L1", "a plugin's last update of other containers holds", KeptOnStock, func(t require.TestingT) {
		for _, other := range others {
			status, err := c.Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: other})
			require.NoError(t, err)
			assert.Equal(t, said, status.GetStatus().GetResources().GetLinux().GetCpuShares(), "container %s", other)
		}
	})
}

// stuckForOneText replaces runc: the update of one container hangs.
const stuckForOneText = `#!/bin/sh
case "$*" in
*update*@ID@*) cat '@PIPE@' >&2 ;;
esac
exec '@PROGRAM@' "$@"
`

// An update that hangs below the shim times out, and the plugin's later updates of other containers
// are applied.
func TestL22_HangingUpdateTimesOutForLaterOnes(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	hung, well, first, second := NewLife(t, n, "hung"), NewLife(t, n, "well"), NewLife(t, n, "first"), NewLife(t, n, "second")
	pins := plugin.New("10", "pins")
	says := func(of string, shares uint64) plugin.Reply {
		return func(_ context.Context, call *plugin.Call) error {
			u := &api.ContainerUpdate{ContainerId: of}
			u.SetLinuxCPUShares(shares)
			call.Update = []*api.ContainerUpdate{u}
			return nil
		}
	}
	Connect(t, n, pins)
	pipe := filepath.Join(n.Folder(), "update")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	StandIn(t, n, "bin/runc", stuckForOneText, "@PIPE@", pipe, "@ID@", hung.Container)
	t.Cleanup(func() {
		if end, err := os.OpenFile(pipe, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			_ = end.Close()
		}
	})
	pins.On(plugin.StopContainer, says(hung.Container, 100))
	errFirst := c.Stop(WithinMoments(t), first.Container, 0)
	pins.On(plugin.StopContainer, says(well.Container, 200))
	errSecond := c.Stop(WithinMoments(t), second.Container, 0)
	Promise(t, "L22", "a plugin's update after one that hangs is applied", OnStock("stops wait for the update"), func(t require.TestingT) {
		require.NoError(t, errors.Join(errFirst, errSecond))
		RequireSoon(t, "the update", func(context.Context) error {
			status, err := c.Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: well.Container})
			if got := status.GetStatus().GetResources().GetLinux().GetCpuShares(); err == nil && got != 200 {
				err = fmt.Errorf("the container has %d shares", got)
			}
			return err
		})
	})
}
