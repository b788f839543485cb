// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"io"
	"net"
)

// quietListener keeps ttrpc from logging how each connection ended. The adaptation logs why a
// plugin failed to join or has left.
type quietListener struct {
	net.Listener
}

// Accept implements net.Listener.
func (l quietListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return quietConn{conn}, nil
}

// quietConn ends as if its peer had closed it, however it breaks.
type quietConn struct {
	net.Conn
}

// Read implements net.Conn.
func (c quietConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		err = io.EOF
	}
	return n, err
}

// Write implements net.Conn. A write that fails closes the connection, and the next read
// returns that.
func (c quietConn) Write(b []byte) (int, error) {
	if _, err := c.Conn.Write(b); err != nil {
		_ = c.Close()
	}
	return len(b), nil
}
