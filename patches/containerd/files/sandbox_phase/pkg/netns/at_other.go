// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package netns

// NewPath returns "": where a network namespace will be is known on this
// platform when it was created.
func NewPath(string) (string, error) { return "", nil }

// NewNetNSAt creates a network namespace, or takes that of the process pid if
// it is not 0. GetPath of it says where.
func NewNetNSAt(_ string, pid uint32) (*NetNS, error) {
	if pid != 0 {
		return NewNetNSFromPID("", pid)
	}
	return NewNetNS("")
}
