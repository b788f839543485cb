// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/containerd/ttrpc"
	"github.com/stretchr/testify/require"
)

// Pauses grow until a connection has lasted.
func TestPauses(t *testing.T) {
	p := newPauses(longestPause)
	require.Less(t, p.next(0), 2*shortestPause)
	for range 30 {
		require.LessOrEqual(t, p.next(longestPause), 2*longestPause)
	}
	require.Greater(t, p.next(longestPause), longestPause/3)
	require.Less(t, p.next(longestPause+1), 2*shortestPause)
}

// A connection that has ended serves nothing more: the next one may have begun.
func TestEndedConnectionServesNothing(t *testing.T) {
	c := &connection{plugin: &Plugin{}}
	c.plugin.set(c)
	c.drain()
	_, err := c.answer(t.Context(), nil, nil, nil)
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = c.plugin.UpdateContainers(nil)
	require.ErrorIs(t, err, ErrNotConnected)
}

// A request that is no registration has the timeout that the stub gives it. One without updates is a report, and
// has ten seconds.
func TestOtherRequestsAreTheStubs(t *testing.T) {
	c := &connection{plugin: &Plugin{}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for name, tc := range map[string]struct {
		payload []byte
		limited bool
	}{
		"updates":    {payload: []byte{0x0a, 0x00}},
		"no updates": {limited: true},
	} {
		t.Run(name, func(t *testing.T) {
			called := false
			err := c.ask(ctx, &ttrpc.Request{Payload: tc.payload}, &ttrpc.Response{}, &ttrpc.UnaryClientInfo{FullMethod: "/service/UpdateContainers"},
				func(got context.Context, req *ttrpc.Request, _ *ttrpc.Response) error {
					deadline, _ := got.Deadline()
					called = tc.limited == (time.Until(deadline) <= reportTimeout) && req.TimeoutNano == 0
					return nil
				})
			require.NoError(t, err)
			require.True(t, called)
		})
	}
}
