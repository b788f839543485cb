// SPDX-License-Identifier: Apache-2.0

// Package containerd holds the patches of github.com/containerd/containerd/v2,
// one file each, named as the patch. The series (package patches) gives their
// order, places.go what several of them use, and files/ has a folder for each that
// adds new files to upstream packages.
package containerd
