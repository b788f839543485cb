// SPDX-License-Identifier: Apache-2.0

// Command share is an example NRI plugin that shares a number of CPU shares evenly among all
// containers of the node. It asks again for updates that did not hold.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/plugin"
	"github.com/hookline-nri/hookline/updates"
)

func main() {
	socket := flag.String("socket", api.DefaultSocketPath, "NRI socket of the runtime")
	index := flag.String("index", "50", "position of the plugin among others, 00 to 99")
	total := flag.Uint64("total", 8192, "CPU shares of all containers together")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	p := &plugin.Plugin{Index: *index, Name: "share", Socket: *socket, Handler: &balancer{total: *total}}
	if err := p.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// balancer receives one event at a time, so that it needs no lock.
type balancer struct {
	total uint64
	has   map[string]uint64 // the shares that each container is known to have, by its id
}

// Synchronize receives all containers, with what they have.
func (b *balancer) Synchronize(_ context.Context, _ []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	b.has = make(map[string]uint64)
	for _, c := range containers {
		b.has[c.GetId()] = shares(c)
	}
	return b.due(), nil
}

// CreateContainer gives the new container its part, and asks the runtime to make those of the others
// smaller.
func (b *balancer) CreateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	b.has[c.GetId()] = 0
	b.has[c.GetId()] = b.part()
	adjust := &api.ContainerAdjustment{}
	adjust.SetLinuxCPUShares(b.part())
	return adjust, b.due(), nil
}

// PostUpdateContainer comes for each update that the plugin has asked for, whether it held or not,
// and after updates by others.
func (b *balancer) PostUpdateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	if _, known := b.has[c.GetId()]; known {
		b.has[c.GetId()] = shares(c)
	}
	return nil
}

// StopContainer asks the runtime to make the parts of the others larger.
func (b *balancer) StopContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) ([]*api.ContainerUpdate, error) {
	delete(b.has, c.GetId())
	return b.due(), nil
}

// part is the part of each container. The kernel has no smaller one than 2.
func (b *balancer) part() uint64 { return max(2, b.total/uint64(max(1, len(b.has)))) }

// due returns an update for each container that does not have its part: the part has changed, or an
// earlier update did not hold. The runtime acknowledges each.
func (b *balancer) due() (all []*api.ContainerUpdate) {
	for id, has := range b.has {
		if has == b.part() {
			continue
		}
		u := &api.ContainerUpdate{ContainerId: id}
		u.SetLinuxCPUShares(b.part())
		updates.Acknowledge(u)
		all = append(all, u)
	}
	return all
}

func shares(c *api.Container) uint64 {
	return c.GetLinux().GetResources().GetCpu().GetShares().GetValue()
}
