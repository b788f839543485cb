// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"errors"
	"net"
	"os"
	"time"
)

// boundedConn is the connection of a plugin. It closes if a write takes too long: a
// peer that does not read must not block the next write, nor the closing of the
// connection. A write is no larger than a message, and has the timeout of a request
// or, if that is longer, of a registration.
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
		_ = c.Close() // the peer has received only a part of the message
	}
	return n, err
}
