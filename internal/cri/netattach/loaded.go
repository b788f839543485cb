// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"slices"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"

	"github.com/hookline-nri/hookline/internal/cri/netconf"
)

// named returns the loaded network with the name and interface of an attachment, nil if there
// is none, and whether its configuration is that of the attachment.
func named(loaded *gocni.ConfigResult, a Attachment) (list *libcni.NetworkConfigList, same bool) {
	for _, n := range netconf.All(loaded) {
		if n.Config.Name == a.Network && n.IFName == a.IfName {
			return netconf.List(n), n.Config.Source == string(a.Config)
		}
	}
	return nil, false
}

// isReplaced reports whether networks are loaded, but none with the name of the attachment's. A
// network whose configuration was changed is the same one: its plugins free what they gave.
func isReplaced(loaded *gocni.ConfigResult, a Attachment) bool {
	all := netconf.OfPods(loaded)
	return len(all) > 0 && !slices.ContainsFunc(all, func(n *gocni.ConfNetwork) bool { return n.Config.Name == a.Network })
}

// backwards returns the loaded networks, the last first.
func backwards(loaded *gocni.ConfigResult) []*gocni.ConfNetwork {
	all := netconf.All(loaded)
	slices.Reverse(all)
	return all
}
