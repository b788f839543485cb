// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Trace is what was recorded. Times are those of Now.
type Trace struct {
	Programs []*Program // in the order in which they started
	Waits    []Wait
	Samples  []Sample
}

// Program is one that a process started. Two that a process was one after the other are two.
type Program struct {
	Process    int
	Path       string // as given to execve
	Start, End time.Duration
	Exited     bool     // at End; else it became another program then, or went on if End is 0
	Parent     *Program // nil if it started before the recording

	command command
}

// Wait is a call of fsync or fdatasync.
type Wait struct {
	Process int
	Program *Program // as that of a Sample
	At      time.Duration
	Took    time.Duration // 0 if it had not returned
}

// Sample is a share of a processor.
type Sample struct {
	Process int
	Program *Program // nil if it started before the recording
	At      time.Duration
	Took    time.Duration
}

// Below tells whether a program, or one that it comes from, is in a folder.
func (p *Program) Below(folder string) bool {
	for ; p != nil; p = p.Parent {
		if strings.HasPrefix(p.Path, folder+"/") {
			return true
		}
	}
	return false
}

// For tells whether a program, or else the one that it comes from, was told one of these ids of a
// pod or container.
func (p *Program) For(ids ...string) bool {
	for ; p != nil; p = p.Parent {
		for _, id := range ids {
			if p.command.cni.container == id || slices.Contains(p.command.args, id) {
				return true
			}
		}
	}
	return false
}

// verbs are what programs can be told to do.
var verbs = map[string][]string{
	"runc":                    {"create", "start", "init", "run", "exec", "kill", "delete", "state", "update", "features"},
	"containerd-shim-runc-v2": {"start", "delete"},
}

// Name is the program, and what it was to do: "runc create", "CNI ptp ADD". Where its command line
// could not be read, it ends with a question mark if there is more than one thing it may have done.
func (p *Program) Name() string {
	name := p.file()
	of, several := verbs[name]
	cni := strings.HasSuffix(filepath.Dir(p.Path), "/cni/bin")
	switch {
	case cni && p.command.cni.verb != "":
		return "CNI " + name + " " + p.command.cni.verb
	case cni || several && len(p.command.args) == 0:
		return name + " ?"
	}
	for _, word := range p.command.args[min(1, len(p.command.args)):] {
		if slices.Contains(of, word) {
			return name + " " + word
		}
	}
	return name
}

// file is the name of the program's file. One that runs an open file is what it says, or else what
// it was before: runc does so with itself.
func (p *Program) file() string {
	switch open := strings.HasPrefix(p.Path, "/proc/") || strings.HasPrefix(p.Path, "/dev/fd/"); {
	case open && len(p.command.args) > 0:
		return filepath.Base(p.command.args[0])
	case open && p.Parent != nil:
		return p.Parent.file()
	}
	return filepath.Base(p.Path)
}
