// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// closedToAll lets a socket appear at its path with no permissions: Linux takes them
// from the socket that is bound.
func closedToAll(_, _ string, raw syscall.RawConn) error {
	var err error
	if ctrl := raw.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), 0) }); ctrl != nil {
		return ctrl
	}
	if err != nil {
		return fmt.Errorf("take all permissions from the socket: %w", err)
	}
	return nil
}
