// SPDX-License-Identifier: Apache-2.0

package server

import (
	"time"

	"github.com/containerd/log"

	"github.com/containerd/containerd/v2/internal/cri/netattach"
	"github.com/containerd/containerd/v2/internal/cri/podnet"
)

// networkGCTimeout bounds the garbage collection of a network, and so the time
// that the first pods may wait for it.
const networkGCTimeout = 30 * time.Second

// collectNetworks has networks free what they hold for sandboxes that vanished
// while the runtime was down. It is called once all sandboxes are recovered and
// before there can be another.
func (c *criService) collectNetworks() {
	if !c.config.NetworkGCOnStart {
		return
	}
	alive := map[string]bool{}
	for _, sandbox := range c.sandboxStore.List() {
		alive[sandbox.ID] = true
	}
	for name, plugin := range c.netPlugin {
		network, ok := plugin.(*podnet.Network)
		if !ok {
			continue
		}
		logger := log.L.WithField("cni", name)
		network.Collect(networkGCTimeout, func(id string) bool { return alive[id] }, func(done []netattach.Collected, err error) {
			if err != nil {
				logger.WithError(err).Warn("networks keep what they hold for sandboxes that are gone")
			}
			for _, one := range done {
				if one.Err != nil {
					logger.WithError(one.Err).Warnf("garbage collection of network %q failed", one.Network)
					continue
				}
				logger.Infof("garbage collection of network %q is done, %d attachments are valid", one.Network, one.Valid)
			}
		})
	}
}
