// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package v2

import (
	"context"
	"path/filepath"
	"strings"

	client "github.com/containerd/containerd/v2/pkg/shim"
)

// removeSockets removes the sockets of a shim, that for debugging included, and tells
// whether it knows them: those of a shim that was started for another task have the name
// of that one.
func removeSockets(ctx context.Context, id, containerdAddress, address string) bool {
	path, ok := strings.CutPrefix(address, "unix://")
	if !ok {
		return false
	}
	var own [2]string
	for i, debug := range []bool{false, true} {
		var err error
		if own[i], err = client.CreateSocketAddress(ctx, filepath.Dir(path), containerdAddress, id, debug); err != nil {
			return false
		}
	}
	if own[0] != address {
		return false
	}
	for _, socket := range own {
		_ = client.RemoveSocket(socket) // the shim may have been faster
	}
	return true
}
