// SPDX-License-Identifier: Apache-2.0

package v2

import "context"

// shimsForRunc are the programs that have removed their sockets when they have answered the end of their
// task or sandbox.
var shimsForRunc = []string{"containerd-shim-runc-v2", "containerd-shim-sandboxed-runc-v2"}

// NoteEnd notes whether the shim of a sandbox answers its shutdown. Its delete command has nothing left
// to do then.
func (m *ShimManager) NoteEnd(ctx context.Context, sandbox string, ended bool) {
	if s, err := m.shims.Get(ctx, sandbox); err == nil {
		noteDeleted(s, ended)
	}
}
