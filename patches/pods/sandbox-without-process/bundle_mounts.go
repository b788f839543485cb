// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutprocess

import "github.com/hookline-nri/hookline/internal/edit"

// BundleMounts unmounts what a shim has left in its bundle.
var BundleMounts = edit.Patch{
	Slug:    "bundle-mounts",
	Module:  "containerd",
	Subject: "runtime: unmount all of a bundle before it is removed",
	Body: `A shim may mount more in its bundle than the root file system of a
container: the namespaces and the shared memory of a sandbox. Its delete
command unmounts them if the shim was lost. If that command fails, the
bundle is removed nevertheless. The removal deletes files in these
mounts, fails at them, and leaves a hidden directory for ever.

Unmount everything below the bundle first. If that fails the bundle
stays as it is, and the next start of containerd tries again.`,
	Refs:   []string{"containerd/containerd#14135"},
	Rules:  []string{"L15", "L25"},
	Status: edit.Upstream,
	Until:  "the removal of a bundle unmounts all mounts in it",
	Edits: []edit.Edit{
		edit.In(bundle, edit.Method("Bundle", "Delete")).Replace(edit.Expr("mount.UnmountRecursive(rootfs, 0)"), "b.unmount(rootfs)"),
		edit.DropImport(bundle, "github.com/containerd/containerd/v2/core/mount"),
	},
}

const bundle = "core/runtime/v2/bundle.go"
