// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Trace is a recording. Times are those of Now.
type Trace struct {
	Programs []*Program // in the order in which they started
	Waits    []Wait
	Samples  []Sample
}

// Program is a program that a process started. Two programs of one process, one after the other,
// are two.
type Program struct {
	Process    int
	Path       string // as given to execve
	Start, End time.Duration
	Exited     bool     // at End; otherwise it became another program then, or went on if End is 0
	Parent     *Program // nil if it started before the recording

	command command
}

// Wait is a call of fsync or fdatasync.
type Wait struct {
	Process int
	Program *Program // as in a Sample
	At      time.Duration
	Took    time.Duration // 0 if it had not returned
}

// Sample is a share of a processor's time.
type Sample struct {
	Process int
	Program *Program // nil if it started before the recording
	At      time.Duration
	Took    time.Duration
}

// Below reports whether a program, or one of its ancestors, is in a folder.
func (p *Program) Below(folder string) bool {
	for ; p != nil; p = p.Parent {
		if strings.HasPrefix(p.Path, folder+"/") {
			return true
		}
	}
	return false
}

// For reports whether one of these ids of a pod or container is in the arguments of a program or of
// its ancestors.
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

// verbs are the subcommands of programs.
var verbs = map[string][]string{
	"runc":                              {"create", "start", "init", "run", "exec", "kill", "delete", "state", "update", "features"},
	"containerd-shim-runc-v2":           {"start", "delete"},
	"containerd-shim-sandboxed-runc-v2": {"start", "delete"},
}

// Name is the program and its subcommand: "runc create", "CNI ptp ADD". If the command line could
// not be read and the subcommand is ambiguous, it ends with a question mark.
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

// file is the name of the program's file. A program that runs an open file, as runc does with
// itself, has the name in its arguments, or else its previous one.
func (p *Program) file() string {
	switch open := strings.HasPrefix(p.Path, "/proc/") || strings.HasPrefix(p.Path, "/dev/fd/"); {
	case open && len(p.command.args) > 0:
		return filepath.Base(p.command.args[0])
	case open && p.Parent != nil:
		return p.Parent.file()
	}
	return filepath.Base(p.Path)
}
