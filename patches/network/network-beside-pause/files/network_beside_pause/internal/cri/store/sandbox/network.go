// SPDX-License-Identifier: Apache-2.0

package sandbox

// CopyNetwork takes over what the attachment of a sandbox to its network has added to
// its metadata.
func (m *Metadata) CopyNetwork(attached *Metadata) {
	m.IP, m.AdditionalIPs = attached.IP, attached.AdditionalIPs
	m.CNIResult = attached.CNIResult
}
