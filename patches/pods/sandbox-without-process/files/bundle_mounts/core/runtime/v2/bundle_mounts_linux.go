// SPDX-License-Identifier: Apache-2.0

package v2

import "github.com/containerd/containerd/v2/core/mount"

// unmount unmounts all that is mounted in the bundle, its root file system included.
func (b *Bundle) unmount(string) error { return mount.UnmountRecursive(b.Path, 0) }
