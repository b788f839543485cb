// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"io"
	"net"
)

// quietListener has ttrpc log nothing of how a connection ended, which it does once for each.
// Why a plugin failed to join or has left is logged by the adaptation.
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

// quietConn ends like one whose peer has closed it, however it breaks.
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

// Write implements net.Conn. What cannot be written is lost with the connection, which who
// reads finds closed.
func (c quietConn) Write(b []byte) (int, error) {
	if _, err := c.Conn.Write(b); err != nil {
		_ = c.Close()
	}
	return len(b), nil
}
