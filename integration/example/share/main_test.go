// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
)

// An update that did not hold is asked for again with the next event, and one that held is not.
func TestUpdateThatDidNotHoldIsAskedForAgain(t *testing.T) {
	b, ctx := &balancer{total: 900}, t.Context()
	container := func(id string, shares uint64) *api.Container {
		return &api.Container{Id: id, Linux: &api.LinuxContainer{Resources: &api.LinuxResources{Cpu: &api.LinuxCPU{Shares: api.UInt64(shares)}}}}
	}
	asked := func(all []*api.ContainerUpdate, err error) map[string]uint64 {
		t.Helper()
		require.NoError(t, err)
		of := make(map[string]uint64)
		for _, u := range all {
			of[u.GetContainerId()] = u.GetLinux().GetResources().GetCpu().GetShares().GetValue()
		}
		return of
	}
	require.Equal(t, map[string]uint64{"a": 450}, asked(b.Synchronize(ctx, nil, []*api.Container{container("a", 2), container("b", 450)})))
	require.NoError(t, b.PostUpdateContainer(ctx, nil, container("a", 450)))

	_, all, err := b.CreateContainer(ctx, nil, container("c", 2))
	require.Equal(t, map[string]uint64{"a": 300, "b": 300}, asked(all, err))
	require.NoError(t, b.PostUpdateContainer(ctx, nil, container("a", 300)))
	require.NoError(t, b.PostUpdateContainer(ctx, nil, container("b", 450)), "it did not hold")

	_, all, err = b.CreateContainer(ctx, nil, container("c", 2))
	require.Equal(t, map[string]uint64{"b": 300}, asked(all, err), "the creation is tried again")
	require.Equal(t, map[string]uint64{"a": 450}, asked(b.StopContainer(ctx, nil, container("c", 300))))
}
