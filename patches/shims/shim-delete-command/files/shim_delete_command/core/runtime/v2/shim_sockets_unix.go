// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package v2

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	client "github.com/containerd/containerd/v2/pkg/shim"
)

// endTime is how long a shim has to remove its sockets after its shutdown.
const endTime = time.Second

// hasRemovedSockets waits until a shim has removed its sockets, including the one for debugging,
// and reports whether it has. The wait is needed because the shim removes them by their names,
// and the shim of the container's next task uses the same names: it would lose its own sockets.
// The names are not known if the shim was started for another task.
func hasRemovedSockets(ctx context.Context, id, containerdAddress, address string) bool {
	path, ok := strings.CutPrefix(address, "unix://")
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	for _, debug := range []bool{false, true} {
		own, err := client.CreateSocketAddress(ctx, filepath.Dir(path), containerdAddress, id, debug)
		if err != nil || !debug && own != address || !isRemoved(ctx, strings.TrimPrefix(own, "unix://")) {
			return false
		}
	}
	return true
}

// isRemoved waits until a file is removed, or ctx ends, and reports whether it is.
func isRemoved(ctx context.Context, path string) bool {
	for pause := time.Millisecond; ; pause *= 2 {
		if _, err := os.Lstat(path); err != nil {
			return os.IsNotExist(err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
	}
}
