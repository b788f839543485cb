// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/log"
)

// startGrace is how long the start of a shim goes on after its caller gave up.
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

// findStarted runs the start command again for a bundle that has no address of its
// shim: containerd exited before the shim had reported it. A running shim answers
// with its address, and is known from then on. If none runs, a new one is started,
// which has no tasks and is shut down for that.
func findStarted(ctx context.Context, b *binary) {
	for _, kept := range []string{"bootstrap.json", "address"} {
		if _, err := os.Stat(filepath.Join(b.bundle.Path, kept)); err == nil {
			return
		}
	}
	s, err := b.Start(ctx, nil, func() {})
	if err != nil {
		log.G(ctx).WithError(err).WithField("id", b.bundle.ID).Warn("failed to find a shim that may have been started")
		return
	}
	_ = s.Close()
}
