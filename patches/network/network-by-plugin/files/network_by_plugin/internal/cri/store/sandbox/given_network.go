// SPDX-License-Identifier: Apache-2.0

package sandbox

import cni "github.com/containerd/go-cni"

// GivenNetwork is the network that an NRI plugin gives a sandbox in place of CNI.
type GivenNetwork struct {
	// Plugin is the name of the plugin in the settings.
	Plugin string
	// Result is nil until the plugin has given it. The CNIResult of the sandbox stays nil, so that a
	// release without this field does not run DEL in vain.
	Result *cni.Result `json:",omitempty"`
}

// NetworkResult returns the network of a sandbox for its status, nil if it has none of its own.
func (m *Metadata) NetworkResult() *cni.Result {
	if m.GivenNetwork != nil {
		return m.GivenNetwork.Result
	}
	return m.CNIResult
}

// Update replaces a sandbox that is being created by its current state.
func (c *Creations) Update(sb Sandbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.creations[sb.ID]; n != nil {
		n.sandbox = sb
	}
}
