// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/internal/peer"
)

// One crowd leaves most places to others, and is logged once while it exists.
func TestCrowdLeavesPlaces(t *testing.T) {
	var a arrivals
	logged := 0
	for i := range 1000 {
		in, first := a.enter("pod one", nil)
		require.Equal(t, i < registeringOfOne, in)
		if first {
			logged++
		}
	}
	require.Equal(t, 1, logged)
	for i := range 3 {
		in, _ := a.enter(fmt.Sprint("pod ", i), nil)
		require.True(t, in)
		require.Equal(t, registeringOfOne+i+1, a.all)
	}
	a.leave("pod one", nil)
	in, _ := a.enter("pod one", nil)
	require.True(t, in)
	for range registering {
		in, _ := a.enter(unknownPeer, nil)
		require.True(t, in, "its peer is unknown")
	}
	for i := range 3 {
		a.leave(fmt.Sprint("pod ", i), nil)
	}
	for range registeringOfOne {
		a.leave("pod one", nil)
	}
	for range registering {
		a.leave(unknownPeer, nil)
	}
	require.Zero(t, a.all)
	require.Empty(t, a.crowds)
}

// The connections of a pod are one crowd, and so are those of a user other than root.
func TestCrowds(t *testing.T) {
	of := func(user uint32, pid int) *peer.Peer { return &peer.Peer{UID: user, PID: pid} }
	require.Equal(t, "pod uid", identity{peer: of(0, 1), pod: peer.Pod{UID: "uid", Container: "c"}}.crowd())
	require.Equal(t, "user 1000", identity{peer: of(1000, 1)}.crowd())
	require.Equal(t, "process 1", identity{peer: of(0, 1)}.crowd())
	require.Equal(t, "", identity{}.crowd())
}
