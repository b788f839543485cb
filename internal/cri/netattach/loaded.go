// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"slices"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"

	"github.com/hookline-nri/hookline/internal/cri/netconf"
)

// named returns the loaded network with the name, interface and configuration of an
// attachment, nil if there is none.
func named(loaded *gocni.ConfigResult, a Attachment) *libcni.NetworkConfigList {
	for _, n := range netconf.All(loaded) {
		if n.Config.Name == a.Network && n.IFName == a.IfName && n.Config.Source == string(a.Config) {
			return netconf.List(n)
		}
	}
	return nil
}

// isReplaced tells whether networks are loaded, but not that of the attachment with
// the same configuration.
func isReplaced(loaded *gocni.ConfigResult, a Attachment) bool {
	return len(netconf.OfPods(loaded)) > 0 && named(loaded, a) == nil
}

// backwards returns the loaded networks, the last first.
func backwards(loaded *gocni.ConfigResult) []*gocni.ConfNetwork {
	all := netconf.All(loaded)
	slices.Reverse(all)
	return all
}
