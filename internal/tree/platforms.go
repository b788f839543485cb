// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/crossvet"
)

// Inherited are findings of a platform in the module as upstream published it, which no patch
// causes.
type Inherited struct {
	Module   string
	Platform crossvet.Platform
	Findings []crossvet.Finding
}

// CheckPlatforms type-checks and vets the packages that the series touches, and those that import
// them, with tests, for each of the platforms and with all patches applied. A finding is an error
// only if the module without patches does not have it; the others are returned. Trees that passed
// before are not checked again, and their findings are returned as they were.
func (w *Workspace) CheckPlatforms(ctx context.Context, trees []Tree, platforms []crossvet.Platform, tags []string) ([]Inherited, error) {
	var inherited []Inherited
	for i, t := range trees {
		for _, p := range platforms {
			findings, err := w.checkPlatform(ctx, trees[:i+1], p, tags)
			if err != nil {
				return inherited, err
			}
			if len(findings) > 0 {
				inherited = append(inherited, Inherited{t.Name, p, findings})
			}
		}
	}
	return inherited, nil
}

func (w *Workspace) checkPlatform(ctx context.Context, trees []Tree, p crossvet.Platform, tags []string) ([]crossvet.Finding, error) {
	t, before := trees[len(trees)-1], trees[:len(trees)-1]
	folders := foldersOf(t)
	if len(folders) == 0 {
		return nil, nil
	}
	toolchain, err := w.toolchain(ctx, t.Work)
	if err != nil {
		return nil, err
	}
	passed := w.path("checked", key(append([]string{"platform 1", fmt.Sprint(toolchain), p.String(), Revision(before), t.Base, t.Tip()}, tags...)...))
	if content, err := os.ReadFile(passed); err == nil {
		var known []crossvet.Finding
		return known, json.Unmarshal(content, &known)
	}
	end := w.Step(fmt.Sprintf("check %s: type-check and vet for %v", t.Name, p))
	defer end()
	module := crossvet.Module{Dir: t.Work, Env: w.goEnviron(), Flags: tagsFlag(tags)}
	now, err := module.Findings(ctx, p, folders)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	if len(now) > 0 {
		module.Dir = t.Dir
		known, err := module.Findings(ctx, p, folders)
		if err != nil {
			return nil, fmt.Errorf("%s as published: %w", t.Name, err)
		}
		if added := without(now, known); len(added) > 0 {
			return nil, fmt.Errorf("%s with its patches, for %v:\n%s", t.Name, p, lines(added))
		}
	}
	content, err := json.Marshal(now)
	if err != nil {
		return nil, err
	}
	return now, replaceFile(passed, content)
}

// foldersOf lists the folders of the Go files that any patch touches.
func foldersOf(t Tree) []string {
	set := map[string]bool{}
	for _, c := range t.Commits {
		for _, folder := range folders(c) {
			set[folder] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// without returns the findings that are not among the known ones. Line numbers do not count.
func without(findings, known []crossvet.Finding) []crossvet.Finding {
	counted := map[crossvet.Finding]int{}
	for _, f := range known {
		f.Line = ""
		counted[f]++
	}
	var out []crossvet.Finding
	for _, f := range findings {
		anywhere := f
		anywhere.Line = ""
		if counted[anywhere]--; counted[anywhere] < 0 {
			out = append(out, f)
		}
	}
	return out
}

func lines(findings []crossvet.Finding) string {
	var out []string
	for _, f := range findings {
		out = append(out, f.String())
	}
	return strings.Join(out, "\n")
}
