// SPDX-License-Identifier: Apache-2.0

package edit

import "slices"

// Patch is one commit onto one upstream module, written as a Go value. It also adds
// the whole new files that are in its folder.
type Patch struct {
	Slug     string    // unique in its module; its file and its folder are named by it
	Module   string    // short name of the upstream module, as in Series.Modules
	Subject  string    // first line of the commit, in the upstream's style: "nri: deliver ..."
	Body     string    // why before what; paragraphs wrapped at 72 columns
	Fixes    []string  // upstream issues that end with it: "containerd/containerd#8426"
	Refs     []string  // further upstream threads: "containerd/nri#286"
	Rules    []string  // contract rules it keeps: "L8"
	Status   Status    // where it is meant to go
	Until    string    // what makes it unnecessary
	Needs    []string  // names of patches before it without which it does not apply, compile or work
	Hold     string    // with status Hold, what has to be decided upstream first
	Large    string    // why it has more lines than MaxLines, which it may not have otherwise
	Untested string    // why it brings no test, which it has to bring otherwise
	Edits    []Edit    // in order; each sees the result of those before
	Packages []Package // whole new packages, copied from this repository
	In       string    // the folder of its group, which Assemble sets
}

// Status says where a patch is meant to go.
type Status string

const (
	// Upstream patches are meant to be merged by the upstream project.
	Upstream Status = "Upstream"
	// Backport patches are meant to be merged where a later patch of the series,
	// which undoes them, is too large to go: on release branches.
	Backport Status = "Backport"
	// Hold patches are meant to be merged by the upstream project, once something is
	// decided there that is not this project's to decide.
	Hold Status = "Hold"
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
// upstream module does not require. Only, where it is set, are patterns of those that
// come along, so that several patches can bring a package, a part each.
type Package struct {
	From, To string
	Only     []string
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
	Groups  []Group
}

// MaxLines is how many lines a patch may add and remove, without tests, documents and
// generated code: more is not reviewed.
const MaxLines = 400

// MaxCoreLines is how many a patch of the core may.
const MaxCoreLines = 150

// ForUpstream tells whether a patch is written for the upstream project.
func (p Patch) ForUpstream() bool {
	return p.Status == Upstream || p.Status == Backport || p.Status == Hold
}

// all are the threads that a patch names.
func (p Patch) all() []string { return slices.Concat(p.Fixes, p.Refs) }
