// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"slices"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"
)

// loopback is the interface of the network that go-cni adds by itself.
const loopback = "lo"

// named returns the network that is loaded with the name, interface and
// configuration of an attachment, and nil if there is none.
func named(loaded *gocni.ConfigResult, a Attachment) *libcni.NetworkConfigList {
	for _, n := range networks(loaded) {
		if n.Config.Name == a.Network && n.IFName == a.IfName && n.Config.Source == string(a.Config) {
			return listOf(n)
		}
	}
	return nil
}

// supplanted tells whether networks are loaded, and that of the attachment is not
// among them as it was.
func supplanted(loaded *gocni.ConfigResult, a Attachment) bool {
	others := slices.DeleteFunc(networks(loaded), func(n *gocni.ConfNetwork) bool { return n.IFName == loopback })
	return len(others) > 0 && named(loaded, a) == nil
}

// backwards returns the loaded networks, the last first.
func backwards(loaded *gocni.ConfigResult) []*gocni.ConfNetwork {
	all := networks(loaded)
	slices.Reverse(all)
	return all
}

func networks(loaded *gocni.ConfigResult) (all []*gocni.ConfNetwork) {
	if loaded == nil {
		return nil
	}
	for _, n := range loaded.Networks {
		if n.Config != nil {
			all = append(all, n)
		}
	}
	return all
}

// listOf is what libcni loaded of a network. The plugins are not read from the
// source: it lacks those in files of their own.
func listOf(n *gocni.ConfNetwork) *libcni.NetworkConfigList {
	list := &libcni.NetworkConfigList{Name: n.Config.Name, CNIVersion: n.Config.CNIVersion, Bytes: []byte(n.Config.Source)}
	for _, p := range n.Config.Plugins {
		list.Plugins = append(list.Plugins, &libcni.PluginConfig{Network: p.Network, Bytes: []byte(p.Source)})
	}
	return list
}
