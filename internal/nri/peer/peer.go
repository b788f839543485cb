// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"errors"
	"fmt"
	"os"
)

// ErrGone means that the process that connected has exited, so that nothing more can be found
// out about it.
var ErrGone = errors.New("the process that connected has exited")

// Peer is the process that made a connection. Close it when it is no longer needed.
type Peer struct {
	UID, GID uint32 // effective, when it connected
	PID      int    // in the pid namespace of the caller

	// ByNumber is whether the kernel named the process by its number alone, as kernels before
	// 6.5 do. The number of a process that has exited may have gone to another process of the
	// same user before the connection was accepted.
	ByNumber bool

	pidfd *os.File
}

// Pod identifies the pod of a process by its cgroup. The zero value is that of a process that
// runs in no pod.
type Pod struct {
	UID       string // of the pod's metadata; for a static pod, the hash that the kubelet gives it
	Container string // id of the container in CRI, empty where the cgroup is the pod's own
}

// String describes the peer for logs and errors.
func (p *Peer) String() string {
	return fmt.Sprintf("process %d of user %d", p.PID, p.UID)
}

// Close releases the process.
func (p *Peer) Close() error { return p.pidfd.Close() }
