// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"
)

// CheckAPI makes sure that importers still compile: in the packages that the series touches, the
// exported API of a module only grows, on this platform. The error has a line for each
// incompatible change. Trees that passed before are not compared again.
func (w *Workspace) CheckAPI(ctx context.Context, trees []Tree, tags []string) error {
	for i, t := range trees {
		if err := w.checkAPI(ctx, t, trees[:i], tags); err != nil {
			return err
		}
	}
	return nil
}

func (w *Workspace) checkAPI(ctx context.Context, t Tree, before []Tree, tags []string) error {
	touched := importable(t.Commits)
	if len(touched) == 0 {
		return nil
	}
	toolchain, err := w.toolchain(ctx, t.Work)
	if err != nil {
		return err
	}
	passed := w.path("checked", key(append([]string{"api 1", fmt.Sprint(toolchain), Revision(before), t.Base, t.Tip()}, tags...)...))
	if exists(passed) {
		return nil
	}
	end := w.Step(fmt.Sprintf("check %s: the exported API only grows", t.Name))
	defer end()
	dir, err := w.temp("api")
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, t.Name)
	if _, err := t.repo().scratch(ctx, dir, t.Base); err != nil {
		return err
	}
	was, err := w.exported(ctx, dir, tags, touched)
	if err != nil {
		return fmt.Errorf("API of %s %s: %w", t.Name, t.Version, err)
	}
	is, err := w.exported(ctx, t.Work, tags, touched)
	if err != nil {
		return fmt.Errorf("API of %s with its patches: %w", t.Name, err)
	}
	if breaks := incompatible(was, is); len(breaks) > 0 {
		for i, b := range breaks {
			breaks[i] = fmt.Errorf("%s: %w: the exported API may only grow", t.Name, b)
		}
		return errors.Join(breaks...)
	}
	return replaceFile(passed, nil)
}

// importable lists the folders of Go files that commits touch or remove, if other modules may
// import them.
func importable(commits []Commit) []string {
	set := map[string]bool{}
	for _, c := range commits {
		for name, content := range c.Files {
			if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !private(name) && !ofCommand(content) {
				set["./"+path.Dir(name)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// private reports whether only its own module can import a file.
func private(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(elem string) bool {
		return elem == "internal" || elem == "testdata"
	})
}

// ofCommand reports whether a file is of package main, which cannot be imported.
func ofCommand(content []byte) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", content, parser.PackageClauseOnly)
	return err == nil && f.Name.Name == "main"
}

// exported loads the packages in folders below dir, by import path, except commands. A folder
// may not exist.
func (w *Workspace) exported(ctx context.Context, dir string, tags, folders []string) (map[string]*types.Package, error) {
	loaded, err := packages.Load(&packages.Config{
		Context:    ctx,
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedTypes,
		Dir:        dir,
		Env:        w.goEnviron(),
		BuildFlags: tagsFlag(tags),
	}, folders...)
	if err != nil {
		return nil, cause(ctx, err)
	}
	exported := map[string]*types.Package{}
	for _, p := range loaded {
		if p.Name == "main" || len(p.GoFiles) == 0 {
			continue
		}
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		exported[p.PkgPath] = p.Types
	}
	return exported, nil
}

// incompatible names package and change of everything that may break importers.
func incompatible(was, is map[string]*types.Package) []error {
	var breaks []error
	for _, path := range slices.Sorted(maps.Keys(was)) {
		if is[path] == nil {
			breaks = append(breaks, fmt.Errorf("package %s: removed", path))
			continue
		}
		for _, c := range apidiff.Changes(was[path], is[path]).Changes {
			if !c.Compatible {
				breaks = append(breaks, fmt.Errorf("package %s: %s", path, c.Message))
			}
		}
	}
	return breaks
}
