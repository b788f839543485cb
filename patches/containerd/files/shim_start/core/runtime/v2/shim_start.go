// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/log"
)

// startGrace is how long the start of a shim goes on without its caller.
const startGrace = 10 * time.Second

// linger returns a context that ends some time after its parent does.
func linger(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
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

// findStarted starts a shim again of which no address was kept: containerd
// ended before the shim had reported it. One that runs answers with its
// address, and is known from then on; if none does, a new one is there for
// the moment, which has no tasks.
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
