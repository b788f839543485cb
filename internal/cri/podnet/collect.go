// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"context"
	"time"

	"github.com/hookline-nri/hookline/internal/cri/cniexec"
	"github.com/hookline-nri/hookline/internal/cri/netattach"
)

// Collect has the networks free what they hold for pods that are no more, see
// [netattach.Kept.Collect], and tells of it. It returns at once. Until it is
// done, which is after timeout at the latest, pods that are to be attached
// wait: a plugin that frees what is not in its list would free theirs. It is to
// be called once, before the first pod is attached.
func (n *Network) Collect(timeout time.Duration, valid func(id string) bool, told func([]netattach.Collected, error)) {
	ctx, cancel := context.WithTimeout(n.life, timeout)
	done := make(chan struct{})
	n.mu.Lock()
	n.collecting = done
	n.mu.Unlock()
	n.work.Go(func() {
		defer cancel()
		config := n.GetConfig()
		collected, err := netattach.New(config.PluginDirs, n.cacheDir, &cniexec.Exec{}).Collect(ctx, config, valid)
		close(done)
		told(collected, err)
	})
}

// collected waits for the garbage collection.
func (n *Network) collected(ctx context.Context) error {
	n.mu.Lock()
	done := n.collecting
	n.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
