// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/internal/peer"
)

// One crowd leaves most places to others, and is logged once for as long as it lasts.
func TestCrowdLeavesPlaces(t *testing.T) {
	var a arrivals
	received := 0
	for i := range 1000 {
		in, tell := a.enter("pod one", nil)
		require.Equal(t, i < registeringOfOne, in)
		if tell {
			received++
		}
	}
	require.Equal(t, 1, received)
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
		require.True(t, in, "it cannot be told whose it is")
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

// All of a pod are one crowd, and all of a user but root.
func TestCrowds(t *testing.T) {
	of := func(user uint32, pid int) *peer.Peer { return &peer.Peer{UID: user, PID: pid} }
	require.Equal(t, "pod uid", who{peer: of(0, 1), pod: peer.Pod{UID: "uid", Container: "c"}}.crowd())
	require.Equal(t, "user 1000", who{peer: of(1000, 1)}.crowd())
	require.Equal(t, "process 1", who{peer: of(0, 1)}.crowd())
	require.Equal(t, "", who{}.crowd())
}
