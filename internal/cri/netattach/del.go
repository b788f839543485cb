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
)

// addKept adds the DEL of an attachment: with what is loaded, if that is the
// network as it was, or with what was kept.
func (d *detachment) addKept(a Attachment) {
	list := named(d.loaded, a)
	if a.IfName != loopback {
		d.result.Kept++
		if list == nil {
			d.result.Replaced++
		}
	}
	var err error
	if list == nil {
		list, err = d.stored(a)
	}
	d.add(a.IfName, del{run: func(ctx context.Context) error {
		if err == nil {
			err = d.delKept(ctx, a, list)
		}
		if err == nil {
			return nil
		}
		return fmt.Errorf("network %q, interface %s of %s: DEL with what was kept of the ADD: %w", a.Network, a.IfName, d.pod.ID, err)
	}})
}

func (d *detachment) delKept(ctx context.Context, a Attachment, list *libcni.NetworkConfigList) error {
	// A plugin that attaches pods to further networks may have taken it along.
	if _, err := os.Stat(d.file(a, d.pod.ID)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return d.cni.DelNetworkList(ctx, list, &libcni.RuntimeConf{
		ContainerID: d.pod.ID, NetNS: d.pod.NetNS, IfName: a.IfName, Args: a.args, CapabilityArgs: a.capabilityArgs,
	})
}

// stored is the network as it was kept, without the plugins that are let go.
func (d *detachment) stored(a Attachment) (*libcni.NetworkConfigList, error) {
	list, err := a.list()
	if err != nil {
		return nil, err
	}
	letGo := supplanted(d.loaded, a)
	if len(list.Plugins) == 0 { // a DEL of none would succeed
		err := errors.New("the plugins were not kept: they are not in the configuration of the network")
		if !letGo {
			return nil, err
		}
		d.result.LetGo = append(d.result.LetGo, fmt.Errorf("network %q, interface %s: %w", a.Network, a.IfName, err))
	}
	if letGo {
		list.Plugins = slices.DeleteFunc(list.Plugins, func(p *libcni.PluginConfig) bool {
			_, err := d.exec.FindInPath(p.Network.Type, d.cni.Path)
			if err != nil {
				d.result.LetGo = append(d.result.LetGo, fmt.Errorf("network %q, interface %s, which is not in use any more: %w", a.Network, a.IfName, err))
			}
			return err != nil
		})
	}
	return list, nil
}

// addLoaded adds the DELs of all plugins of networks with nothing kept.
func (d *detachment) addLoaded(kept []Attachment) {
	once := !d.pod.Attached || d.pod.NetNS == "" && d.result.Kept == 0
	for _, n := range backwards(d.loaded) {
		if slices.ContainsFunc(kept, func(a Attachment) bool { return a.IfName == n.IFName }) {
			continue
		}
		if n.IFName != loopback {
			d.result.Loaded++
		}
		for _, plugin := range slices.Backward(listOf(n).Plugins) {
			d.add(n.IFName, del{once: once, run: func(ctx context.Context) error { return d.delLoaded(ctx, n, plugin) }})
		}
	}
}

func (d *detachment) delLoaded(ctx context.Context, n *gocni.ConfNetwork, plugin *libcni.PluginConfig) error {
	one := &libcni.NetworkConfigList{Name: n.Config.Name, CNIVersion: n.Config.CNIVersion, Plugins: []*libcni.PluginConfig{plugin}}
	err := d.cni.DelNetworkList(ctx, one, &libcni.RuntimeConf{
		ContainerID: d.pod.ID, NetNS: d.pod.NetNS, IfName: n.IFName, Args: d.pod.Args, CapabilityArgs: d.pod.CapabilityArgs,
	})
	if err == nil {
		return nil
	}
	return fmt.Errorf("network %q, interface %s of %s: DEL with nothing kept of an ADD: %w", n.Config.Name, n.IFName, d.pod.ID, err)
}
