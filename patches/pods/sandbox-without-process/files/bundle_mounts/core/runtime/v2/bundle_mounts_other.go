// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package v2

import "github.com/containerd/containerd/v2/core/mount"

// unmount unmounts the root file system. Only shims on Linux mount more in their bundle.
func (b *Bundle) unmount(rootfs string) error { return mount.UnmountRecursive(rootfs, 0) }
