// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/containerd/containerd/v2/internal/cri/netattach"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// noteDel notes that a sandbox is off its networks, if it was on them as libcni's cache
// says, and each DEL succeeded.
func noteDel(sandbox *sandboxstore.Sandbox, del netattach.Result) {
	if del.Cached == 0 || len(del.Abandoned)+len(del.Ignored)+len(del.Unreadable) > 0 {
		return
	}
	_ = sandbox.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.Detached = true
		return status, nil
	}) // it only returns the function's error
}

// detached tells whether a sandbox is off its networks and its network namespace is gone,
// so that a DEL would find nothing.
func detached(sandbox *sandboxstore.Sandbox) bool {
	if !sandbox.Status.Get().Detached {
		return false
	}
	closed, err := sandbox.NetNS.Closed()
	return err == nil && closed
}
