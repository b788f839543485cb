// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// A run is a command of a page that runs tests, such as go test -C integration -run 'TestL9_' ./pods.
type run struct {
	in      string   // the folder of -C, empty without it
	pattern string   // of -run, empty without it
	folders []string // of the packages, below in
}

// A command is a line of code, in which quotes hold a pattern together.
var (
	testCommand = regexp.MustCompile(`(?m)^    .*\bgo test (.*)$`)
	argument    = regexp.MustCompile(`'[^']*'|\S+`)
)

func runsIn(page string) (all []run) {
	for _, m := range testCommand.FindAllStringSubmatch(page, -1) {
		var r run
		into := (*string)(nil)
		for _, arg := range argument.FindAllString(m[1], -1) {
			switch {
			case into != nil:
				*into, into = strings.Trim(arg, "'"), nil
			case arg == "-C":
				into = &r.in
			case arg == "-run":
				into = &r.pattern
			default:
				r.folders = append(r.folders, arg)
			}
		}
		all = append(all, r)
	}
	return all
}

// checkRuns finds the commands in the texts of pull requests that run no test: a test that was
// renamed or moved leaves a command that passes and tries nothing.
func checkRuns(r Repository) (errs []error) {
	ours, err := findProofs(r.Root)
	if err != nil {
		return []error{err}
	}
	for _, g := range r.Series.Groups {
		page, err := os.ReadFile(filepath.Join(r.Root, g.Page()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		theirs, err := proofsOfModule(r.Modules, g.Module())
		if err != nil {
			return append(errs, err)
		}
		for _, run := range runsIn(string(page)) {
			tests := append(brought(g, ours), theirs...)
			if run.in != "" {
				tests = ours
			}
			for _, err := range run.check(tests) {
				errs = append(errs, fmt.Errorf("%s: %w", g.Page(), err))
			}
		}
	}
	return errs
}

// brought returns the tests that a pull request brings, by the files that they have in upstream's
// tree. A later pull request may remove them.
func brought(g edit.Group, ours []proof) (proofs []proof) {
	for _, p := range ours {
		file, of := strings.CutPrefix(p.file, path.Join(g.Folder, "files")+"/")
		if _, in, below := strings.Cut(file, "/"); of && below { // the first folder is that of the patch
			proofs = append(proofs, proof{rule: p.rule, name: p.name, file: in})
		}
	}
	return proofs
}

// proofsOfModule returns the tests in the files of an upstream module that patches touch.
func proofsOfModule(modules []Module, name string) (proofs []proof, err error) {
	for _, m := range modules {
		for file, content := range m.Files {
			if m.Name != name || !strings.HasSuffix(file, "_test.go") || content == nil {
				continue
			}
			found, err := proofsIn(file, content)
			if err != nil {
				return nil, err
			}
			proofs = append(proofs, found...)
		}
	}
	return proofs, nil
}

// check returns an error for each alternative of a pattern that matches no test, and for each
// folder without a test that matches.
func (r run) check(tests []proof) (errs []error) {
	used := map[string]bool{}
	for _, alternative := range alternatives(r.pattern) {
		pattern, err := regexp.Compile(alternative)
		if err != nil {
			return append(errs, fmt.Errorf("-run %q: %w", r.pattern, err))
		}
		found := false
		for _, t := range tests {
			if folder := r.folderOf(t); folder != "" && pattern.MatchString(t.path()) {
				found, used[folder] = true, true
			}
		}
		if !found {
			errs = append(errs, fmt.Errorf("-run %q: %q matches no test of %s", r.pattern, alternative, strings.Join(r.folders, " ")))
		}
	}
	for _, folder := range r.folders {
		if !used[folder] {
			errs = append(errs, fmt.Errorf("-run %q matches no test of %s", r.pattern, folder))
		}
	}
	return errs
}

// folderOf returns which of the folders of a command has a test, empty if none has it.
func (r run) folderOf(t proof) string {
	folder := path.Dir(t.file)
	if isCase(t.file) {
		folder = "integration/cases" // runs the cases
	}
	i := slices.IndexFunc(r.folders, func(f string) bool { return path.Join(r.in, f) == folder })
	if i < 0 {
		return ""
	}
	return r.folders[i]
}

// path returns the name of a test as -run matches it.
func (p proof) path() string {
	if isCase(p.file) {
		return "TestCases/" + p.name
	}
	return p.name
}

// alternatives cuts a pattern into those that | separates, also within the parentheses at its end:
// "TestA|TestCases/(L1_|L2_)" has three.
func alternatives(pattern string) (all []string) {
	depth, start := 0, 0
	cut := func(end int) {
		one := pattern[start:end]
		head, tail, grouped := strings.Cut(strings.TrimSuffix(one, ")"), "(")
		if !grouped || !strings.HasSuffix(one, ")") {
			all = append(all, one)
			return
		}
		for _, t := range strings.Split(tail, "|") {
			all = append(all, head+t)
		}
	}
	for i, c := range pattern {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			cut(i)
			start = i + 1
		}
	}
	cut(len(pattern))
	return all
}
