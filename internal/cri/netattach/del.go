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

// addCached adds the DEL of a cached attachment with its own configuration. That may fail, since
// a file that its plugins need may be gone. Then the configuration that is loaded under its name
// is used, if it is another one.
func (d *detachment) addCached(a Attachment) {
	own, same := named(d.loaded, a)
	if a.IfName != netconf.Loopback {
		d.result.Cached++
		if !same {
			d.result.Replaced++
		}
	}
	del := del{after: func() { d.forget(a) }}
	var changed *libcni.NetworkConfigList
	var unread error
	if !same {
		changed = own
		own, unread = d.stored(a)
		if d.isAbandoned(a) {
			del.failed = &d.result.Abandoned
		}
	}
	del.run = func(ctx context.Context) error {
		err := unread
		if err == nil {
			err = d.delOwn(ctx, a, own, changed != nil)
		}
		if err != nil && changed != nil {
			err = d.delChanged(ctx, a, changed, err, unread == nil)
		}
		if err == nil {
			return nil
		}
		return fmt.Errorf("DEL with the cached attachment %s: %w", d.file(a, d.pod.ID), err)
	}
	d.add(a.IfName, del)
}

// delOwn runs the DEL of an attachment with its own configuration. If another try may follow, it
// leaves time for that.
func (d *detachment) delOwn(ctx context.Context, a Attachment, own *libcni.NetworkConfigList, again bool) error {
	if again {
		half, cancel := share(ctx, 2)
		defer cancel()
		ctx = half
	}
	return d.delCached(ctx, a, own)
}

// delChanged runs the DEL of an attachment with the configuration that is loaded under its name.
// failed is the error of its own configuration. If that came from a DEL, resources that its
// plugins hold may leak.
func (d *detachment) delChanged(ctx context.Context, a Attachment, changed *libcni.NetworkConfigList, failed error, leaks bool) error {
	if err := d.delCached(ctx, a, changed); err != nil {
		return errors.Join(failed, err)
	}
	if leaks {
		d.result.Abandoned = append(d.result.Abandoned, failed)
	}
	return nil
}

func (d *detachment) delCached(ctx context.Context, a Attachment, list *libcni.NetworkConfigList) error {
	// A plugin that attaches pods to further networks may have removed it already.
	if _, err := os.Stat(d.file(a, d.pod.ID)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return d.del(ctx, a, d.pod.ID, d.pod.NetNS, list)
}

// del runs the DEL of an attachment with the arguments of its ADD.
func (c *Cache) del(ctx context.Context, a Attachment, id, netns string, list *libcni.NetworkConfigList) error {
	return c.cni.DelNetworkList(ctx, list, &libcni.RuntimeConf{
		ContainerID: id, NetNS: netns, IfName: a.IfName, Args: a.args, CapabilityArgs: a.capabilityArgs,
	})
}

// forget removes a cached attachment whose DEL is abandoned.
func (d *detachment) forget(a Attachment) {
	// If that fails, the file does no harm: the pod is gone.
	_ = os.Remove(d.file(a, d.pod.ID))
}

// isAbandoned reports whether the DEL of a cached attachment is not retried any more.
func (d *detachment) isAbandoned(a Attachment) bool {
	return d.pod.Overdue && isReplaced(d.loaded, a)
}

// stored returns the network of a cached attachment. If its DEL is abandoned, plugins that cannot
// be run are left out, so that the others run.
func (d *detachment) stored(a Attachment) (*libcni.NetworkConfigList, error) {
	list, err := a.list()
	if err != nil {
		return nil, err
	}
	if len(list.Plugins) == 0 { // a DEL of none would succeed
		return nil, errors.New("the plugins are not cached: they are not in the configuration of the network")
	}
	if !d.isAbandoned(a) {
		return list, nil
	}
	list.Plugins = slices.DeleteFunc(list.Plugins, func(p *libcni.PluginConfig) bool {
		_, err := d.exec.FindInPath(p.Network.Type, d.cni.Path)
		if err != nil {
			d.result.Abandoned = append(d.result.Abandoned, fmt.Errorf("network %q, interface %s, which is no longer loaded: %w", a.Network, a.IfName, err))
		}
		return err != nil
	})
	return list, nil
}

// addLoaded adds the DEL of loaded networks without a cached attachment. If the ADD failed, each
// plugin has a DEL of its own; otherwise the chain has one, see docs/architecture.md.
func (d *detachment) addLoaded(cached []Attachment) {
	var failed *[]error
	config := d.loaded
	switch {
	case !d.pod.Attached:
		failed = &d.result.Abandoned
		if d.pod.Tried != nil {
			config = d.pod.Tried
		}
	case d.result.Cached > 0 && len(d.result.Unreadable) == 0:
		failed = &d.result.Ignored
	case d.pod.NetNS == "" && d.pod.Detached:
		failed = &d.result.Ignored
	case d.pod.NetNS == "" && d.pod.Overdue:
		failed = &d.result.Abandoned
	}
	for _, n := range backwards(config) {
		if slices.ContainsFunc(cached, func(a Attachment) bool { return a.IfName == n.IFName }) {
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
	return fmt.Errorf("network %q, interface %s of %s: DEL without a cached attachment: %w", n.Config.Name, n.IFName, d.pod.ID, err)
}
