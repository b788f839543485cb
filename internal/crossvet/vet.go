// SPDX-License-Identifier: Apache-2.0

package crossvet

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Finding is an error of the type checker, or a report of an analyzer.
type Finding struct {
	File string // below the module's root
	Line string // "12:3"
	Says string
}

func (f Finding) String() string { return f.File + ":" + f.Line + ": " + f.Says }

// Findings checks, for one platform, the packages of the module that lie in folders, and the
// packages that import them. The folders are paths below the module's root.
func (m Module) Findings(ctx context.Context, p Platform, folders []string) ([]Finding, error) {
	all, err := m.load(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("load packages for %v: %w", p, err)
	}
	full := chosen(all, below(m.Dir, folders))
	c := newTyping(p, full)
	var checks sync.WaitGroup
	for _, pkg := range full {
		checks.Go(func() { c.check(pkg) })
	}
	checks.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found := map[Finding]bool{}
	for _, pkg := range full {
		for _, err := range pkg.Errors {
			found[m.finding(err.Pos, err.Msg)] = true
		}
	}
	if err := m.vet(full, found); err != nil {
		return nil, fmt.Errorf("vet for %v: %w", p, err)
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b Finding) int { return strings.Compare(a.String(), b.String()) }), nil
}

func below(dir string, folders []string) []string {
	var dirs []string
	for _, f := range folders {
		dirs = append(dirs, filepath.Join(dir, f))
	}
	return dirs
}

// vet adds the reports of the analyzers on packages that have no errors.
func (m Module) vet(pkgs []*packages.Package, found map[Finding]bool) error {
	var alone []*packages.Package
	for _, pkg := range pkgs {
		if len(pkg.Errors) > 0 {
			continue
		}
		// Without its imports, facts about those are neither looked for nor missed.
		copied := *pkg
		copied.Imports = nil
		alone = append(alone, &copied)
	}
	graph, err := checker.Analyze(suite, alone, nil)
	if err != nil {
		return err
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			return fmt.Errorf("%s: %s: %w", act.Package.ID, act.Analyzer.Name, act.Err)
		}
		for _, d := range act.Diagnostics {
			found[m.finding(act.Package.Fset.Position(d.Pos).String(), said(act.Analyzer, d))] = true
		}
	}
	return nil
}

func said(a *analysis.Analyzer, d analysis.Diagnostic) string { return d.Message + " (" + a.Name + ")" }

// finding splits a position of the form file:line:column.
func (m Module) finding(position, says string) Finding {
	file, line, _ := strings.Cut(position, ":")
	if rel, err := filepath.Rel(m.Dir, file); err == nil {
		file = rel
	}
	return Finding{File: filepath.ToSlash(file), Line: line, Says: says}
}
