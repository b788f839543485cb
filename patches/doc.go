// SPDX-License-Identifier: Apache-2.0

// Package patches is the product: the changes that make the NRI lifecycle
// hooks of containerd keep the contract (docs/contract.md), each written as a
// Go value.
//
// # What a patch is
//
// A patch is an edit.Patch: one value, one file, one upstream commit. It says
// why it exists (Body), where its problem is discussed (Refs), which rules it
// keeps (Rules), where it is meant to go (Status) and what would let it go
// (Until). A test rejects one that leaves any of them out.
//
// It is called by its module and its slug, containerd/hook-last. It stands in the folder of
// the pull request that it is a commit of, as all that is its own does:
//
//	pods/creation/pull.md               what the pull request says
//	pods/creation/group.go              its patches, in their order
//	pods/creation/hook_last.go          declares HookLast
//	pods/creation/files/hook_last/      the new files that it brings
//	places/containerd/places.go         what several pull requests use, such as a place that they change
//
// Package build has what exists only to build. A test and the linter check all of this.
//
// This repository holds no upstream source. A place is named by file,
// declaration and the shape of a node in it, never by a line of context:
//
//	edit.In("pkg/adaptation/adaptation.go", edit.Method("Adaptation", "StopPodSandbox")).
//		Replace(edit.Stmt(edit.If("err != nil")), `...`)
//
// reads "in method StopPodSandbox of Adaptation, the one statement that is an
// if with this condition". Where upstream moves on and the shape is gone, or
// fits twice, nothing is applied and the error names the patch, the file, the
// declaration and the anchor. Package edit's documentation lists all anchors
// and operations.
//
// # How a patch is kept small
//
// An edit inserts a call; logic lives elsewhere. Code that stands alone goes
// into a package below internal/nri or internal/cri, of a module for plugin authors
// if that has to read the same, is tested there, and is brought along (Packages). Code that needs the private parts of an upstream
// package, and tests of that package, are whole new files in the patch's folder,
// each under the path that it gets upstream. What only a later patch uses comes
// with that one. go.mod ignores these folders, since they compile upstream only.
//
// # How a patch ends its life
//
// When upstream has what Until says, the patch goes: its file, its folder and its
// line in group.go. A pull request that was merged goes as a whole: its folder and its
// lines in series.go. A patch that still works but is no longer wanted is worse
// than none: a bump of a module is the time to read each Until.
package patches
