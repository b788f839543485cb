// SPDX-License-Identifier: Apache-2.0

package netconf

import (
	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"
)

// Loopback is the interface of the network that go-cni adds by itself.
const Loopback = "lo"

// All returns the networks of a configuration, which may be nil.
func All(config *gocni.ConfigResult) (all []*gocni.ConfNetwork) {
	if config == nil {
		return nil
	}
	for _, n := range config.Networks {
		if n.Config != nil {
			all = append(all, n)
		}
	}
	return all
}

// OfPods returns the networks that pods are attached to: all but the loopback.
func OfPods(config *gocni.ConfigResult) (all []*gocni.ConfNetwork) {
	for _, n := range All(config) {
		if n.IFName != Loopback {
			all = append(all, n)
		}
	}
	return all
}

// List returns a network in libcni's form. The plugins are not read from its source, which
// lacks those that are configured in files of their own.
func List(n *gocni.ConfNetwork) *libcni.NetworkConfigList {
	list := &libcni.NetworkConfigList{Name: n.Config.Name, CNIVersion: n.Config.CNIVersion, Bytes: []byte(n.Config.Source)}
	for _, p := range n.Config.Plugins {
		list.Plugins = append(list.Plugins, &libcni.PluginConfig{Network: p.Network, Bytes: []byte(p.Source)})
	}
	return list
}
