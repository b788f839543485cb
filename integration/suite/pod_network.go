// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"slices"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// AgreesIfNetworkStands agrees if the pod's network stands: its namespace is there,
// and eth0 in it has all addresses that the pod is said to have.
func AgreesIfNetworkStands(n *node.Node) plugin.Reply {
	return func(_ context.Context, call *plugin.Call) error {
		if len(call.Pod.GetIps()) == 0 {
			return fmt.Errorf("%s: the pod has no address", call.Event)
		}
		addresses, err := n.Addresses(NetworkNamespace(call.Pod), "eth0")
		if err != nil {
			return fmt.Errorf("%s: %w", call.Event, err)
		}
		for _, ip := range call.Pod.GetIps() {
			if !slices.Contains(addresses, ip) {
				return fmt.Errorf("%s: eth0 has %v, not %s", call.Event, addresses, ip)
			}
		}
		return nil
	}
}
