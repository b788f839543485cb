// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package netns

// NewPath returns "", because on this platform the path of a network namespace is known only
// after its creation.
func NewPath(string) (string, error) { return "", nil }

// NewNetNSAt creates a network namespace, or takes that of the process pid if pid is not 0.
// GetPath returns its path.
func NewNetNSAt(_ string, pid uint32) (*NetNS, error) {
	if pid != 0 {
		return NewNetNSFromPID("", pid)
	}
	return NewNetNS("")
}
