// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/log"

	"github.com/containerd/containerd/v2/internal/cri/netattach"
	"github.com/containerd/containerd/v2/internal/cri/podnet"
	ctrdutil "github.com/containerd/containerd/v2/internal/cri/util"
)

// networkGCTimeout bounds the garbage collection, and so the time that the first
// pods may wait for it.
const networkGCTimeout = 30 * time.Second

// collectNetworks has networks free the resources of sandboxes that vanished while the runtime
// was down. It is called when all sandboxes are recovered and before a new one can be created.
func (c *criService) collectNetworks() {
	if !c.config.NetworkGCOnStart {
		return
	}
	pods, err := c.podsOfNetworks(ctrdutil.NamespacedContext())
	if err != nil {
		log.L.WithError(err).Warn("failed to free the network resources of sandboxes that no longer exist")
		return
	}
	podnet.Collect(c.networks(), networkGCTimeout, pods, func(name string, done []netattach.Collected, err error) {
		logger := log.L.WithField("cni", name)
		if err != nil {
			logger.WithError(err).Warn("failed to free the network resources of sandboxes that no longer exist")
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

// podsOfNetworks returns all sandboxes, also those recovered from their record alone.
func (c *criService) podsOfNetworks(ctx context.Context) (netattach.Pods, error) {
	records, err := c.client.SandboxStore().List(ctx)
	if err != nil {
		return netattach.Pods{}, fmt.Errorf("list the records of sandboxes: %w", err)
	}
	all := map[string]bool{}
	for _, record := range records {
		all[record.ID] = true
	}
	var attached []string
	for _, sandbox := range c.sandboxStore.List() {
		all[sandbox.ID] = true
		if sandbox.CNIResult == nil || sandbox.NetNS == nil {
			continue
		}
		closed, err := sandbox.NetNS.Closed()
		if err != nil {
			return netattach.Pods{}, fmt.Errorf("network namespace of sandbox %s: %w", sandbox.ID, err)
		}
		if !closed {
			attached = append(attached, sandbox.ID)
		}
	}
	return netattach.Pods{Valid: func(id string) bool { return all[id] }, Attached: attached}, nil
}
