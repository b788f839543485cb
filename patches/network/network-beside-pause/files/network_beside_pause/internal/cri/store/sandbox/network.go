// SPDX-License-Identifier: Apache-2.0

package sandbox

// CopyNetwork copies the metadata that the attachment of a sandbox to its network has added.
func (m *Metadata) CopyNetwork(attached *Metadata) {
	m.IP, m.AdditionalIPs = attached.IP, attached.AdditionalIPs
	m.CNIResult = attached.CNIResult
}
