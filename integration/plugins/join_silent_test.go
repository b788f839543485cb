// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// A client that connects again and again and sends nothing does not keep plugins from registering.
func TestL13_SilentConnectionsDoNotBlockRegistrations(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	var silent []net.Conn
	for range 300 {
		conn, err := new(net.Dialer).DialContext(WithinAMinute(t), "unix", n.NRISocket())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		silent = append(silent, conn)
	}
	p := StartProcess(t, n, plugin.Script{Index: "10", Name: "prompt"})
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Second) // on stock each silent connection takes five
	defer cancel()
	joined := wait.Until(soon, "the plugin to be synchronized", func(context.Context) error { return HasAnswered(p, plugin.Synchronize) })
	open := 0
	for _, conn := range silent {
		if staysOpen(conn) {
			open++
		}
	}
	Promise(t, "L13", "a plugin registers while another process has 300 silent connections", OnStock("plugins register one at a time, and wait"), func(t require.TestingT) {
		require.NoError(t, joined)
		assert.LessOrEqual(t, open, 16)
	})
	Promise(t, "L17", "closed connections are counted and logged", OnStock("it has no bound"), func(t require.TestingT) {
		RequireSoon(t, "the metric", func(ctx context.Context) error {
			gone, err := n.Metrics(ctx, "containerd_nri_connections_rejected_total")
			if err == nil && gone[""] < 284 {
				err = fmt.Errorf("%v were closed", gone)
			}
			return errors.Join(err, HasLogged(n, "has 16 connections that have not registered"))
		})
	})
	for _, conn := range silent {
		require.NoError(t, conn.Close())
	}
	Promise(t, "L17", "no plugin is registering any more", OnStock("it has no such metric"), func(t require.TestingT) {
		RequireMetric(t, n, "containerd_nri_registering_connections", "", 0)
	})
}

// staysOpen reports whether the other end has not closed a connection.
func staysOpen(conn net.Conn) bool {
	if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return false
	}
	_, err := conn.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded)
}
