// SPDX-License-Identifier: Apache-2.0

// Package patches is the product: the changes that make the NRI lifecycle
// hooks of containerd keep the contract (docs/contract.md), each written as a
// Go value.
//
// # A patch
//
// A patch is an edit.Patch: one value, one file, one upstream commit. It says
// why it exists (Body), where its problem is discussed (Refs), which rules it
// keeps (Rules), where it is meant to go (Status) and when it can be dropped
// (Until). A test rejects a patch without one of these.
//
// Its name is its module and its slug, such as containerd/hook-last. It is a commit of a pull
// request. The folder of that pull request has all files of the patch:
//
//	pods/creation/pull.md               the text of the pull request
//	pods/creation/group.go              its patches, in their order
//	pods/creation/hook_last.go          declares HookLast
//	pods/creation/files/hook_last/      the new files that it brings
//	places/containerd/places.go         shared by several pull requests, such as a place that they change
//
// Package build has the patches that are only for the build. A test and the linter check all of this.
//
// This repository holds no upstream source. A place is named by file,
// declaration and the shape of a node in it, never by a line of context:
//
//	edit.In("pkg/adaptation/adaptation.go", edit.Method("Adaptation", "StopPodSandbox")).
//		Replace(edit.Stmt(edit.If("err != nil")), `...`)
//
// reads "in method StopPodSandbox of Adaptation, the one statement that is an
// if with this condition". If upstream changes and the shape no longer matches, or
// matches twice, nothing is applied. The error names the patch, the file, the
// declaration and the anchor. Package edit's documentation lists all anchors
// and operations.
//
// # How a patch is kept small
//
// An edit inserts a call; logic lives elsewhere. Code that stands alone goes into a
// package below internal/nri or internal/cri, or into a module for plugin authors if
// plugins must read the same data. It is tested there, and the patch copies it upstream
// (Packages). Code that needs the private parts of an upstream package, and tests of that
// package, are whole new files in the patch's folder, each under its path upstream. Code
// that only a later patch uses comes with that patch. go.mod ignores these folders, since
// they compile upstream only.
//
// # When a patch is dropped
//
// When upstream has what Until says, drop the patch: its file, its folder and its
// line in group.go. When a pull request was merged, drop it as a whole: its folder and
// its lines in series.go. A patch that still applies but is no longer needed is worse
// than none: read each Until when you bump a module.
package patches
