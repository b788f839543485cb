// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/containerd/containerd/v2/internal/nri"

// NetworkGates returns the plugins that gate the network, by name. It never waits.
func (a *API) NetworkGates() []nri.NetworkGate {
	if a.IsDisabled() {
		return nil
	}
	return a.nri.NetworkGates()
}
