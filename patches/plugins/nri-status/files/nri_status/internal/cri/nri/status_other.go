// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package nri

import "github.com/containerd/containerd/v2/internal/nri"

// Status returns the status of disabled NRI, as NRI does not exist on this platform.
func (*API) Status() Status {
	return Status{Status: nri.Status{Plugins: []nri.PluginStatus{}}, PodsBeingCreated: []PodBeingCreated{}}
}
