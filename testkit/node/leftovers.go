// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/moby/sys/mountinfo"
	"github.com/vishvananda/netlink"

	"github.com/hookline-nri/hookline/testkit/cri"
	"github.com/hookline-nri/hookline/testkit/host"
)

const snapshotter = "overlayfs"

// Leftover is a resource of a pod, with its name, path or id.
type Leftover = cri.Leftover

// Leftovers lists the resources on the node that a node without pods does not have: sandboxes,
// containers, snapshots and leases in containerd's metadata; pods and containers that CRI lists;
// processes, cgroups, mounts, network namespaces and links; addresses and attachments of the
// network; state of runc, bundles, other folders and sockets. It is empty if nothing is left.
// Reserved names of CRI cannot be listed: create the same pod again to check them.
func (n *Node) Leftovers(ctx context.Context) ([]Leftover, error) {
	found, err := n.inventory(ctx)
	if err != nil {
		return nil, err
	}
	var left []Leftover
	for item := range found {
		if !n.baseline[item] {
			left = append(left, item)
		}
	}
	slices.SortFunc(left, func(a, b Leftover) int { return strings.Compare(a.String(), b.String()) })
	return left, nil
}

// inventory lists everything that pods may leave.
func (n *Node) inventory(ctx context.Context) (map[Leftover]bool, error) {
	found := map[Leftover]bool{}
	add := func(kind, name string) { found[Leftover{Kind: kind, Name: name}] = true }
	for kind, list := range map[string]func(context.Context, func(kind, name string)) error{
		"CRI":                   n.listCRI,
		"containerd's metadata": n.listMetadata,
		"processes":             n.listProcesses,
		"the kernel's objects":  n.listKernel,
		"files":                 n.listFiles,
	} {
		if err := list(ctx, add); err != nil {
			return nil, fmt.Errorf("list leftovers in %s: %w", kind, err)
		}
	}
	return found, nil
}

func (n *Node) listCRI(ctx context.Context, add func(kind, name string)) error {
	left, err := n.cri.Left(ctx)
	for _, l := range left {
		add(l.Kind, l.Name)
	}
	return err
}

func (n *Node) listMetadata(ctx context.Context, add func(kind, name string)) error {
	sandboxes, err := n.client.SandboxStore().List(ctx)
	if err != nil {
		return fmt.Errorf("list sandboxes: %w", err)
	}
	for _, s := range sandboxes {
		add("sandbox record", s.ID)
	}
	containers, err := n.client.ContainerService().List(ctx)
	if err != nil {
		return fmt.Errorf("list containers: %w", err)
	}
	for _, c := range containers {
		add("container record", c.ID)
	}
	leases, err := n.client.LeasesService().List(ctx)
	if err != nil {
		return fmt.Errorf("list leases: %w", err)
	}
	for _, l := range leases {
		add("lease", l.ID)
	}
	err = n.client.SnapshotService(snapshotter).Walk(ctx, func(_ context.Context, s snapshots.Info) error {
		add("snapshot", s.Name)
		return nil
	})
	if err != nil {
		return fmt.Errorf("list snapshots: %w", err)
	}
	return nil
}

// listProcesses skips containerd itself, which a restart changes.
func (n *Node) listProcesses(_ context.Context, add func(kind, name string)) error {
	pids, err := n.Processes()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if pid != n.PID() {
			add("process", host.Command(pid))
		}
	}
	groups, err := n.PodCgroups()
	if err != nil {
		return err
	}
	for _, group := range groups {
		if filepath.Base(group) != "pods" {
			add("cgroup", group)
		}
	}
	return nil
}

// listKernel looks from inside the node's namespaces.
func (n *Node) listKernel(_ context.Context, add func(kind, name string)) error {
	return n.Within(func() error {
		// The mounts of this thread, which is in the namespaces.
		mounts, err := mountinfo.GetMounts(mountinfo.PrefixFilter(n.Folder()))
		if err != nil {
			return fmt.Errorf("list mounts: %w", err)
		}
		for _, m := range mounts {
			switch {
			case m.Mountpoint == n.Folder():
			case m.FSType == "nsfs":
				add("network namespace", m.Mountpoint)
			default:
				add("mount", m.Mountpoint)
			}
		}
		links, err := netlink.LinkList()
		if err != nil {
			return fmt.Errorf("list links: %w", err)
		}
		for _, link := range links {
			add("link", link.Attrs().Name)
		}
		return nil
	})
}

// places returns the folders that have one entry for each leftover of a kind.
func (n *Node) places() map[string][]string {
	p := n.paths
	const tasks, cri = "io.containerd.runtime.v2.task", "io.containerd.grpc.v1.cri"
	return map[string][]string{
		"address":          {filepath.Join(p.addresses(), network)},
		"attachment":       {filepath.Join(n.VarLib(), "cni", "results")},
		"runc state":       {filepath.Join(p.runc(), namespace)},
		"shim socket":      {p.shims()},
		"bundle":           {filepath.Join(p.root(), tasks, namespace), filepath.Join(p.state(), tasks, namespace)},
		"network file":     {filepath.Join(p.state(), cri, "netns")},
		"sandbox folder":   {filepath.Join(p.root(), cri, "sandboxes"), filepath.Join(p.state(), cri, "sandboxes")},
		"container folder": {filepath.Join(p.root(), cri, "containers"), filepath.Join(p.state(), cri, "containers")},
	}
}

func (n *Node) listFiles(_ context.Context, add func(kind, name string)) error {
	for kind, folders := range n.places() {
		for _, folder := range folders {
			entries, err := os.ReadDir(folder)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for _, entry := range entries {
				// These are host-local's own files, not addresses.
				if kind == "address" && (entry.Name() == "lock" || strings.HasPrefix(entry.Name(), "last_reserved_ip")) {
					continue
				}
				add(kind, filepath.Join(folder, entry.Name()))
			}
		}
	}
	return nil
}
