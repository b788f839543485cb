// SPDX-License-Identifier: Apache-2.0

package netns

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
)

// NewPath returns a path under baseDir for a network namespace that NewNetNSAt will create, so
// that the path can be recorded before the namespace exists. It has the form
// "baseDir/cni-<random>".
func NewPath(baseDir string) (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("generate a name for a network namespace: %w", err)
	}
	return filepath.Join(baseDir, fmt.Sprintf("cni-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])), nil
}

// NewNetNSAt creates a network namespace, or takes that of the process pid if pid is not 0,
// and mounts it at a path that NewPath returned.
func NewNetNSAt(path string, pid uint32) (*NetNS, error) {
	if _, err := newNS(path, pid); err != nil {
		return nil, fmt.Errorf("set up network namespace %q: %w", path, err)
	}
	return &NetNS{path: path}, nil
}
