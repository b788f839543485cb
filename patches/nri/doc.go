// SPDX-License-Identifier: Apache-2.0

// Package nri holds the patches of github.com/containerd/nri, one file each.
// The series (package patches) gives their order; files/ holds the new files
// that they add to upstream packages.
package nri
