// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package peer

import (
	"errors"
	"fmt"
	"syscall"
)

// Of is not supported on this platform.
func Of(syscall.Conn) (*Peer, error) {
	return nil, fmt.Errorf("peer of the connection: %w", errors.ErrUnsupported)
}

// Unit is not supported on this platform.
func (p *Peer) Unit() string { return "" }

// Pod is not supported on this platform.
func (p *Peer) Pod() (Pod, error) {
	return Pod{}, fmt.Errorf("pod of %v: %w", p, errors.ErrUnsupported)
}
