// SPDX-License-Identifier: Apache-2.0

// Package gocni holds the patches of github.com/containerd/go-cni, one file each, named
// as the patch. The series (package patches) gives their order.
package gocni
