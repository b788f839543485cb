// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"github.com/containerd/log"

	"github.com/containerd/containerd/v2/core/containers"
)

// startGrace is how long the start of a shim goes on after its caller canceled, and how long a
// starting containerd waits for the output of a start command after the command has ended.
const startGrace = 10 * time.Second

// withGrace returns a context that is canceled a grace period after its parent.
func withGrace(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		expired := time.AfterFunc(grace, cancel)
		context.AfterFunc(ctx, func() { expired.Stop() })
	})
	return ctx, func() {
		stop()
		cancel()
	}
}

// runtimeOf returns the runtime for which a shim was started: that of its container, or of its
// sandbox if it runs sandboxes.
func (m *ShimManager) runtimeOf(ctx context.Context, id string) (containers.RuntimeInfo, error) {
	container, err := m.containers.Get(ctx, id)
	if !errdefs.IsNotFound(err) {
		return container.Runtime, err
	}
	made, missing := m.sandboxStore.Get(ctx, id)
	if missing != nil {
		return containers.RuntimeInfo{}, err
	}
	return containers.RuntimeInfo{Name: made.Runtime.Name, Options: made.Runtime.Options}, nil
}

// endStarted ends the shim of a sandbox if containerd exited during the start of the shim, and
// reports whether it did. Such a shim has no sandbox and no task, because its address was not
// known. A shim that is found for a container may be that of its sandbox, and is left to loadShim.
func (m *ShimManager) endStarted(ctx context.Context, b *binary) bool {
	found := findStarted(ctx, b)
	if found == nil {
		return false
	}
	defer func() { _ = found.Close() }()
	if _, err := m.sandboxStore.Get(ctx, b.bundle.ID); err != nil {
		return false
	}
	t, err := newShimTask(found)
	if err == nil {
		err = t.waitShutdown(ctx)
	}
	if err != nil {
		log.G(ctx).WithError(err).WithField("id", b.bundle.ID).Warn("failed to shut down a shim whose start was interrupted")
	}
	return true
}

// findStarted runs the start command again for a bundle without the address of its shim:
// containerd exited before the shim had reported it. A running shim answers with its address,
// and is known from then on. If no shim runs, a new one is started, and shut down because it has
// no tasks. findStarted returns when ctx ends, which bounds the wait for one shim at start. If
// another process holds the command's output, it returns startGrace later at most, because the
// bundle may be deleted next.
func findStarted(ctx context.Context, b *binary) *shim {
	for _, kept := range []string{"bootstrap.json", "address"} {
		if _, err := os.Stat(filepath.Join(b.bundle.Path, kept)); err == nil {
			return nil
		}
	}
	b.outputTime = startGrace
	s, err := b.Start(ctx, nil, func() {})
	if err != nil {
		log.G(ctx).WithError(err).WithField("id", b.bundle.ID).Warn("failed to find a shim that may have been started")
		return nil
	}
	return s
}

// logDelete logs that a task was not deleted. A missing task is no error: the shim was started,
// and its task was never created.
func logDelete(ctx context.Context, id string, err error) {
	if !errdefs.IsNotFound(errgrpc.ToNative(err)) {
		log.G(ctx).WithError(err).WithField("id", id).Error("the task is not deleted")
	}
}
