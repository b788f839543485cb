// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"context"
	"time"

	"github.com/hookline-nri/hookline/internal/cri/netattach"
)

// Collect has networks free the resources of pods that are gone, one network after the other,
// see [netattach.Cache.Collect], and calls report for each with its name. It returns at once.
// Until it is done, which is after timeout at the latest, no pod is attached to any of the
// networks: a plugin frees every attachment that is not in its list, and two folders may have
// the same network. Call it once, before the first pod is attached.
func Collect(networks map[string]*Network, timeout time.Duration, pods netattach.Pods, report func(name string, done []netattach.Collected, err error)) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	done := make(chan struct{})
	var stops []func() bool
	for _, n := range networks {
		stops = append(stops, context.AfterFunc(n.life, cancel))
		n.work.Add(1)
		n.mu.Lock()
		n.collecting = done
		n.mu.Unlock()
	}
	go func() {
		defer cancel()
		for name, n := range networks {
			config := n.GetConfig()
			collected, err := n.cache(config).Collect(ctx, config, pods)
			report(name, collected, err)
		}
		close(done)
		for _, stop := range stops {
			stop()
		}
		for _, n := range networks {
			n.work.Done()
		}
	}()
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
