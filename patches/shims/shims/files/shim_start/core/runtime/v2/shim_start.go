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

// startGrace is how long the start of a shim goes on after its caller gave up, and how
// long a containerd that starts waits for the output of a start command after its end.
const startGrace = 10 * time.Second

// withGrace returns a context that is cancelled a grace period after its parent.
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

// runtimeOf returns the runtime that a shim was started for: that of its container, or
// of its sandbox if it makes sandboxes.
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

// endStarted tells whether it has ended the shim of a sandbox that containerd exited in the
// start of. Its address was not known, so it has no sandbox and no task. What is found for a
// container may be the shim of its sandbox, and is left to loadShim.
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

// findStarted runs the start command again for a bundle that has no address of its
// shim: containerd exited before the shim had reported it. A running shim answers
// with its address, and is known from then on. If none runs, a new one is started,
// which has no tasks and is shut down for that. It ends with ctx, which
// bounds how long containerd waits for one shim at start, and startGrace later at most where
// the command has started something that holds its output: the bundle may be deleted next.
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

// logDelete logs that a task was not deleted. That there is none is in order: the shim
// was started and got no further.
func logDelete(ctx context.Context, id string, err error) {
	if !errdefs.IsNotFound(errgrpc.ToNative(err)) {
		log.G(ctx).WithError(err).WithField("id", id).Error("the task is not deleted")
	}
}
