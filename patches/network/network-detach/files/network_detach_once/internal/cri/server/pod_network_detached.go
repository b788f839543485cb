// SPDX-License-Identifier: Apache-2.0

package server

import sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"

// isDetached reports whether a sandbox is detached from its networks and its network namespace
// is removed, so that a DEL would find nothing.
func isDetached(sandbox *sandboxstore.Sandbox) bool {
	if !sandbox.Status.Get().Detached {
		return false
	}
	closed, err := sandbox.NetNS.Closed()
	return err == nil && closed
}
