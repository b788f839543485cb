// SPDX-License-Identifier: Apache-2.0

// Package containerd holds the patches of github.com/containerd/containerd/v2,
// one file each. The series (package patches) gives their order; files/ holds
// the new files that they add to upstream packages.
package containerd
