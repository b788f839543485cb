// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A broken connection reads io.EOF, and a write to it returns no error.
func TestQuietConn(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	c := quietConn{here}
	require.NoError(t, c.SetDeadline(time.Unix(1, 0)))
	_, err := here.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	_, err = c.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
	n, err := c.Write([]byte("answer"))
	require.NoError(t, err)
	require.Equal(t, 6, n)
	_, err = there.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err, "it is open")
}
