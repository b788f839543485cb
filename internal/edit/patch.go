// SPDX-License-Identifier: Apache-2.0

package edit

import "slices"

// Patch is one commit onto one upstream module, written as a Go value. It also adds the new
// files in its folder.
type Patch struct {
	Slug     string    // unique in its module; its file and its folder are named by it
	Module   string    // short name of the upstream module, as in Series.Modules
	Subject  string    // first line of the commit, in the upstream's style: "nri: deliver ..."
	Body     string    // why before what; paragraphs wrapped at 72 columns
	Fixes    []string  // upstream issues that it fixes: "containerd/containerd#8426"
	Refs     []string  // further upstream threads: "containerd/nri#286"
	Rules    []string  // contract rules it keeps: "L8"
	Status   Status    // where it is meant to go
	Until    string    // the event that makes it unnecessary
	Needs    []string  // names of patches before it without which it does not apply, compile or work
	Hold     string    // with status Hold, the decision that upstream has to make first
	Large    string    // why it has more lines than MaxLines; empty if it has not
	Untested string    // why it brings no test; empty if it brings one
	Edits    []Edit    // in order; each sees the result of those before
	Packages []Package // whole new packages, copied from this repository
	In       string    // the folder of its group, which Assemble sets
}

// Status is the destination of a patch.
type Status string

const (
	// Upstream patches are meant to be merged by the upstream project.
	Upstream Status = "Upstream"
	// Backport patches are meant for release branches. A later patch of the series, which is
	// too large for those, undoes them.
	Backport Status = "Backport"
	// Hold patches are meant to be merged by the upstream project, once it has made a
	// decision that is not this project's.
	Hold Status = "Hold"
	// Carry patches stay with this project.
	Carry Status = "Carry"
	// Drop patches exist only to build, and end with the next upstream release.
	Drop Status = "Drop"
)

// Package is a package of this repository that a patch brings along, with its tests. Imports of
// it, and of other packages brought to the same module, are rewritten. From is a folder below the
// root of this repository, To one below the root of the upstream module. Except has patterns, as
// of path.Match, of files that stay here: tests that need modules which the upstream module does
// not require. Only, if it is set, has patterns of the files that come along, so that several
// patches can each bring a part of a package.
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
// generated code. No reviewer reads more.
const MaxLines = 400

// MaxCoreLines is the same for a patch of the core.
const MaxCoreLines = 150

// ForUpstream reports whether a patch is written for the upstream project.
func (p Patch) ForUpstream() bool {
	return p.Status == Upstream || p.Status == Backport || p.Status == Hold
}

// all returns the threads that a patch names.
func (p Patch) all() []string { return slices.Concat(p.Fixes, p.Refs) }
