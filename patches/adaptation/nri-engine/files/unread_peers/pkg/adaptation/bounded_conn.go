// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"errors"
	"net"
	"os"
	"time"
)

// boundedConn is the connection of a plugin, closed if a write to it does not
// end: a peer that does not read must not hold up whoever writes next, nor the
// one who wants to close. What is written is no larger than a message, for which
// there is the time of a request or, if that is longer, of a registration.
type boundedConn struct {
	net.Conn
}

// Write implements net.Conn.
func (c boundedConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(max(getPluginRequestTimeout(), getListTimeout()))); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = c.Close() // what was written of the message is of no use to the peer
	}
	return n, err
}
