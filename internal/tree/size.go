// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Size is how much of a patch a reviewer has to read: lines added and removed, without blank
// lines, comments and generated code.
type Size struct {
	Files int // of any kind
	Code  int // lines of Go, without tests
	Tests int // lines of tests
}

var uncounted = regexp.MustCompile(`^[+-]\s*(//.*)?$`)

// Sizes measures every patch, by name.
func (w *Workspace) Sizes(ctx context.Context, trees []Tree) (map[string]Size, error) {
	sizes := map[string]Size{}
	for _, t := range trees {
		if len(t.Commits) == 0 {
			continue
		}
		out, err := t.repo().git(ctx, "log", "--reverse", "--patch", "--no-renames", "--unified=0", "--format=commit %H", t.Base+".."+t.Tip())
		if err != nil {
			return nil, fmt.Errorf("sizes of %s: %w", t.Name, err)
		}
		of := map[string]Size{}
		for _, text := range strings.Split("\n"+out, "\ncommit ")[1:] {
			id, diff, _ := strings.Cut(text, "\n")
			of[id] = measure(diff)
		}
		for _, c := range t.Commits {
			sizes[c.Patch.Name()] = of[c.ID]
		}
	}
	return sizes, nil
}

// GroupSize is the size of a group's own patches together.
type GroupSize struct {
	Size      // a file that several of them touch counts once
	Cases int // tests that they bring or edit
}

// SizeOf measures a group in trees that have its patches. sizes has the size of each patch.
func SizeOf(g edit.Group, trees []Tree, sizes map[string]Size) GroupSize {
	files := map[string][]byte{}
	var s GroupSize
	for _, t := range trees {
		maps.Copy(files, union(g, t).Files)
	}
	for _, p := range g.Patches {
		s.Code += sizes[p.Name()].Code
		s.Tests += sizes[p.Name()].Tests
	}
	s.Files, s.Cases = len(files), len(testsOf(Commit{Files: files}))
	return s
}

// measure counts a diff without context lines. The licence notice is a comment.
func measure(diff string) (s Size) {
	for _, file := range strings.Split("\n"+diff, "\ndiff --git ")[1:] {
		header, rest, _ := strings.Cut(file, "\n")
		s.Files++
		if !strings.HasSuffix(header, ".go") || strings.HasSuffix(header, ".pb.go") {
			continue
		}
		lines, comment, hunks := 0, false, false
		for line := range strings.Lines(rest) {
			line = strings.TrimRight(line, "\r\n")
			if strings.HasPrefix(line, "@@") {
				hunks, comment = true, false
			}
			if !hunks || line == "" || (line[0] != '+' && line[0] != '-') {
				continue
			}
			switch {
			case strings.HasPrefix(line[1:], "/*"):
				comment = true
			case !comment && !uncounted.MatchString(line):
				lines++
			}
			if strings.HasSuffix(line, "*/") {
				comment = false
			}
		}
		if strings.HasSuffix(header, "_test.go") || strings.Contains(header, "/testdata/") {
			s.Tests += lines
		} else {
			s.Code += lines
		}
	}
	return s
}

// CheckSizes returns an error for each patch of the core that is larger than edit.MaxCoreLines. It
// also returns one for each patch for upstream that does not say why it is larger than
// edit.MaxLines or why it brings no test, or that says so without need.
func CheckSizes(series edit.Series, sizes map[string]Size) []error {
	var errs []error
	for _, p := range series.Core().Patches {
		if s := sizes[p.Name()]; s.Code > edit.MaxCoreLines {
			errs = append(errs, fmt.Errorf("%s: has %d lines of code: a patch of the core may have at most %d", p.Name(), s.Code, edit.MaxCoreLines))
		}
	}
	for _, p := range series.Patches {
		if !p.ForUpstream() {
			continue
		}
		s := sizes[p.Name()]
		if large := s.Code > edit.MaxLines; large != (p.Large != "") {
			errs = append(errs, fmt.Errorf("%s: has %d lines of code, and Large is %q: above %d, say there why, or split the patch", p.Name(), s.Code, p.Large, edit.MaxLines))
		}
		if tested := s.Tests > 0; tested == (p.Untested != "") {
			errs = append(errs, fmt.Errorf("%s: has %d lines of tests, and Untested is %q: bring a test, or say there why not", p.Name(), s.Tests, p.Untested))
		}
	}
	return errs
}
