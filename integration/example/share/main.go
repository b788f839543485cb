// SPDX-License-Identifier: Apache-2.0

// Command share is an example NRI plugin that shares a number of CPU shares evenly among all
// containers of the node. It asks again for updates that did not hold.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/hookline-nri/hookline/updates"
)

func main() {
	socket := flag.String("socket", api.DefaultSocketPath, "NRI socket of the runtime")
	index := flag.String("index", "50", "position of the plugin among others, 00 to 99")
	total := flag.Uint64("total", 8192, "CPU shares of all containers together")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, *socket, *index, &plugin{total: *total}); err != nil {
		fmt.Fprintln(os.Stderr, "share:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, socket, index string, p *plugin) error {
	s, err := stub.New(p, stub.WithSocketPath(socket), stub.WithPluginName("share"), stub.WithPluginIdx(index))
	if err != nil {
		return fmt.Errorf("make a plugin: %w", err)
	}
	if err := s.Run(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the runtime at %s: %w", socket, err)
	}
	return nil
}

// plugin receives one event at a time, so that it needs no lock.
type plugin struct {
	total uint64
	has   map[string]uint64 // the shares that each container is known to have, by its id
}

// Synchronize receives all containers, with what they have.
func (p *plugin) Synchronize(_ context.Context, _ []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	p.has = make(map[string]uint64)
	for _, c := range containers {
		p.has[c.GetId()] = shares(c)
	}
	return p.due(), nil
}

// CreateContainer gives the new container its part, and asks the runtime to make those of the others
// smaller.
func (p *plugin) CreateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	p.has[c.GetId()] = 0
	p.has[c.GetId()] = p.part()
	adjust := &api.ContainerAdjustment{}
	adjust.SetLinuxCPUShares(p.part())
	return adjust, p.due(), nil
}

// PostUpdateContainer comes for each update that the plugin has asked for, whether it held or not,
// and after updates by others.
func (p *plugin) PostUpdateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	if _, known := p.has[c.GetId()]; known {
		p.has[c.GetId()] = shares(c)
	}
	return nil
}

// StopContainer asks the runtime to make the parts of the others larger.
func (p *plugin) StopContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) ([]*api.ContainerUpdate, error) {
	delete(p.has, c.GetId())
	return p.due(), nil
}

// part is the part of each container. The kernel has no smaller one than 2.
func (p *plugin) part() uint64 { return max(2, p.total/uint64(max(1, len(p.has)))) }

// due returns an update for each container that does not have its part: the part has changed, or an
// earlier update did not hold. The runtime acknowledges each.
func (p *plugin) due() (all []*api.ContainerUpdate) {
	for id, has := range p.has {
		if has == p.part() {
			continue
		}
		u := &api.ContainerUpdate{ContainerId: id}
		u.SetLinuxCPUShares(p.part())
		updates.Acknowledge(u)
		all = append(all, u)
	}
	return all
}

func shares(c *api.Container) uint64 {
	return c.GetLinux().GetResources().GetCpu().GetShares().GetValue()
}
