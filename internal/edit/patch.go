// SPDX-License-Identifier: Apache-2.0

package edit

// Patch is one commit onto one upstream module, written as a Go value. It also adds
// the whole new files that are in its folder.
type Patch struct {
	Slug     string    // unique in its module; its file, its Go value and its folder are named by it
	Module   string    // short name of the upstream module, as in Series.Modules
	Subject  string    // first line of the commit, in the upstream's style: "nri: deliver ..."
	Body     string    // why before what; paragraphs wrapped at 72 columns
	Refs     []string  // upstream threads: "containerd/nri#286"
	Rules    []string  // contract rules it keeps: "L8"
	Status   Status    // where it is meant to go
	Until    string    // what makes it unnecessary
	Edits    []Edit    // in order; each sees the result of those before
	Packages []Package // whole new packages, copied from this repository
}

// Status says where a patch is meant to go.
type Status string

const (
	// Upstream patches are meant to be merged by the upstream project.
	Upstream Status = "Upstream"
	// Backport patches are meant to be merged where a later patch of the series,
	// which undoes them, is too large to go: on release branches.
	Backport Status = "Backport"
	// Carry patches stay with this project.
	Carry Status = "Carry"
	// Drop patches exist only to build, and end with the next upstream release.
	Drop Status = "Drop"
)

// Package is a package of this repository that a patch brings along. Imports
// of it, and of other packages brought to the same module, are rewritten; its
// tests come along too. From is a folder below the root of this repository, To
// one below the root of the upstream module. Except are patterns, as of
// path.Match, of names of files that stay here: tests that need modules which the
// upstream module does not require.
type Package struct {
	From, To string
	Except   []string
}

// Module is an upstream module.
type Module struct {
	Name string // "containerd"
	Path string // "github.com/containerd/containerd/v2"; its version is pinned in go.mod
}

// Series is the ordered list of patches over the modules.
type Series struct {
	Modules []Module // in build order: a module comes after those it uses
	Patches []Patch
}
