// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/containerd/containerd/v2/core/runtime"
)

// shutDownAfter shuts the shim down after the deletion of its task. If the shim answers both, its
// delete command has nothing left to do.
func (s *shimTask) shutDownAfter(ctx context.Context, deletion error) error {
	// Noted before, because the connection may close while the answer is read.
	noteDeleted(s.ShimInstance, deletion == nil)
	err := s.waitShutdown(ctx)
	if err != nil {
		noteDeleted(s.ShimInstance, false)
	}
	return err
}

func noteDeleted(instance ShimInstance, deleted bool) {
	if s, ok := instance.(*shim); ok {
		s.bundle.deleted.Store(deleted)
	}
}

// hasDeletedAll reports whether a shim has nothing left for its delete command to do: it serves
// other tasks, or has removed its sockets at the begin of its shutdown. It is false for all shims
// but that for runc, because the duties of their delete commands are not known.
func hasDeletedAll(ctx context.Context, id string, shims *runtime.NSMap[ShimInstance], b *binary) bool {
	if !b.bundle.deleted.Load() || !isForRunc(b) {
		return false
	}
	params, err := readBootstrapParams(filepath.Join(b.bundle.Path, "bootstrap.json"))
	if err != nil {
		return false
	}
	// A shim that serves other tasks goes on, and keeps its sockets.
	return servesOthers(ctx, id, shims, params.GetAddress()) || hasRemovedSockets(ctx, id, b.containerdAddress, params.GetAddress())
}

// isForRunc reports whether a shim is that of io.containerd.runc.v2, whose program has this name.
func isForRunc(b *binary) bool { return filepath.Base(b.runtime) == "containerd-shim-runc-v2" }

func servesOthers(ctx context.Context, id string, shims *runtime.NSMap[ShimInstance], address string) bool {
	all, err := shims.GetAll(ctx, false)
	if err != nil {
		return false
	}
	for _, other := range all {
		endpoint, _ := other.Endpoint()
		if other.ID() != id && strings.HasSuffix(endpoint, address) {
			return true
		}
	}
	return false
}
