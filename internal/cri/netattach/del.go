// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"

	"github.com/hookline-nri/hookline/internal/cri/netconf"
)

// addKept adds the DEL of an attachment: with what is loaded, if that is the
// network as it was, or with what was kept.
func (d *detachment) addKept(a Attachment) {
	list := named(d.loaded, a)
	if a.IfName != netconf.Loopback {
		d.result.Kept++
		if list == nil {
			d.result.Replaced++
		}
	}
	del := del{after: func() { d.forget(a) }}
	var err error
	if list == nil {
		list, err = d.stored(a)
		if d.pod.Overdue && supplanted(d.loaded, a) {
			del.failed = &d.result.LetGo
		}
	}
	del.run = func(ctx context.Context) error {
		if err == nil {
			err = d.delKept(ctx, a, list)
		}
		if err == nil {
			return nil
		}
		return fmt.Errorf("DEL with what %s keeps of the ADD: %w", d.file(a, d.pod.ID), err)
	}
	d.add(a.IfName, del)
}

func (d *detachment) delKept(ctx context.Context, a Attachment, list *libcni.NetworkConfigList) error {
	// A plugin that attaches pods to further networks may have taken it along.
	if _, err := os.Stat(d.file(a, d.pod.ID)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return d.del(ctx, a, d.pod.ID, d.pod.NetNS, list)
}

// del runs the DEL of an attachment with its own arguments.
func (k *Kept) del(ctx context.Context, a Attachment, id, netns string, list *libcni.NetworkConfigList) error {
	return k.cni.DelNetworkList(ctx, list, &libcni.RuntimeConf{
		ContainerID: id, NetNS: netns, IfName: a.IfName, Args: a.args, CapabilityArgs: a.capabilityArgs,
	})
}

// forget removes what was kept of an attachment that is let go.
func (d *detachment) forget(a Attachment) {
	// It is as good as gone if it cannot be removed: the pod is.
	_ = os.Remove(d.file(a, d.pod.ID))
}

// stored is the network as it was kept, without the plugins that are let go.
func (d *detachment) stored(a Attachment) (*libcni.NetworkConfigList, error) {
	letGo := supplanted(d.loaded, a)
	list, err := a.list()
	if err == nil && len(list.Plugins) == 0 { // a DEL of none would succeed
		err = errors.New("the plugins were not kept: they are not in the configuration of the network")
	}
	switch {
	case err != nil && letGo:
		d.letGo(a, err)
		return &libcni.NetworkConfigList{Name: a.Network, CNIVersion: "1.0.0"}, nil
	case err != nil:
		return nil, err
	case letGo:
		list.Plugins = slices.DeleteFunc(list.Plugins, func(p *libcni.PluginConfig) bool {
			_, err := d.exec.FindInPath(p.Network.Type, d.cni.Path)
			if err != nil {
				d.letGo(a, err)
			}
			return err != nil
		})
	}
	return list, nil
}

func (d *detachment) letGo(a Attachment, err error) {
	d.result.LetGo = append(d.result.LetGo, fmt.Errorf("network %q, interface %s, which is not in use any more: %w", a.Network, a.IfName, err))
}

// addLoaded adds the DEL of networks with nothing kept: of one whose ADD failed
// plugin by plugin. One that was attached stays whole, see the architecture.
func (d *detachment) addLoaded(kept []Attachment) {
	var failed *[]error
	config := d.loaded
	switch {
	case !d.pod.Attached:
		failed = &d.result.LetGo
		if d.pod.Tried != nil {
			config = d.pod.Tried
		}
	case d.pod.NetNS == "" || d.result.Kept > 0 && len(d.result.Unreadable) == 0:
		failed = &d.result.Ignored
	}
	for _, n := range backwards(config) {
		if slices.ContainsFunc(kept, func(a Attachment) bool { return a.IfName == n.IFName }) {
			continue
		}
		if n.IFName != netconf.Loopback {
			d.result.Loaded++
		}
		parts := [][]*libcni.PluginConfig{netconf.List(n).Plugins}
		if !d.pod.Attached {
			parts = slices.Collect(slices.Chunk(parts[0], 1))
			slices.Reverse(parts)
		}
		for _, plugins := range parts {
			d.add(n.IFName, del{failed: failed, run: func(ctx context.Context) error { return d.delLoaded(ctx, n, plugins) }})
		}
	}
}

func (d *detachment) delLoaded(ctx context.Context, n *gocni.ConfNetwork, plugins []*libcni.PluginConfig) error {
	list := &libcni.NetworkConfigList{Name: n.Config.Name, CNIVersion: n.Config.CNIVersion, Plugins: plugins}
	err := d.cni.DelNetworkList(ctx, list, &libcni.RuntimeConf{
		ContainerID: d.pod.ID, NetNS: d.pod.NetNS, IfName: n.IFName, Args: d.pod.Args, CapabilityArgs: d.pod.CapabilityArgs,
	})
	if err == nil {
		return nil
	}
	return fmt.Errorf("network %q, interface %s of %s: DEL with nothing kept of an ADD: %w", n.Config.Name, n.IFName, d.pod.ID, err)
}
