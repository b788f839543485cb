// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Alone are the trees of a group: its patches and those that they need, on the
// pristine modules, and nothing else. Modules without such a patch are left out. The
// commits are put beside those of the series, whose work trees stay as they are.
func (w *Workspace) Alone(ctx context.Context, g edit.Group) ([]Tree, error) {
	with := w.Series.With(g)
	with.Modules = slices.DeleteFunc(slices.Clone(with.Modules), func(m edit.Module) bool {
		return !slices.ContainsFunc(with.Patches, func(p edit.Patch) bool { return p.Module == m.Name })
	})
	reduced := *w
	reduced.Series = with
	sources, err := reduced.Sources(ctx)
	if err != nil {
		return nil, err
	}
	plans, err := render(with, sources, os.DirFS(w.Root))
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", g.Name, err)
	}
	var trees []Tree
	for _, p := range plans {
		p.refs = groups
		t := Tree{Source: p.Source, Work: w.path("src", p.Name)}
		r := t.repo()
		known, err := r.keys(ctx, groups)
		if err != nil {
			return nil, err
		}
		from, kept := known[p.key], 0
		for from != "" && kept < len(p.changes) && known[p.changes[kept].key] != "" {
			from = known[p.changes[kept].key]
			kept++
		}
		if t.New = len(p.changes) - kept; from == "" || t.New > 0 {
			if err := r.write(ctx, p, from, p.changes[kept:]); err != nil {
				return nil, fmt.Errorf("group %s: %w", g.Name, cause(ctx, err))
			}
			if known, err = r.keys(ctx, groups); err != nil {
				return nil, err
			}
		}
		t.Base = known[p.key]
		for _, c := range p.changes {
			t.Commits = append(t.Commits, Commit{Patch: c.patch, ID: known[c.key], Files: c.files})
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// CheckGroups applies each group alone, compiles and vets what it touches and what the
// product is built from, and runs the tests that it brings or edits. Groups that passed
// before are not checked again. It returns how many were.
func (w *Workspace) CheckGroups(ctx context.Context, p Product) (checked int, err error) {
	b := bench{w: w, repos: map[string]repo{}}
	for _, g := range w.Series.Groups {
		trees, err := w.Alone(ctx, g)
		if err != nil {
			return checked, err
		}
		done, err := b.check(ctx, g, trees, p)
		if err != nil {
			return checked, fmt.Errorf("group %s alone: %w", g.Name, err)
		}
		if done {
			checked++
		}
	}
	return checked, nil
}

// A bench is a folder in which one group after the other is compiled: most of a work
// tree is the same for all of them.
type bench struct {
	w     *Workspace
	dir   string
	repos map[string]repo // by module
}

func (b *bench) check(ctx context.Context, g edit.Group, trees []Tree, p Product) (done bool, err error) {
	w := b.w
	t := trees[len(trees)-1]
	all := union(g, t)
	toolchain, err := w.toolchain(ctx, t.Work)
	if err != nil {
		return false, err
	}
	content, err := contents(ctx, trees)
	if err != nil {
		return false, err
	}
	tests := testsOf(all)
	parts := append([]string{"group 1", fmt.Sprint(toolchain), content.tips(trees), strings.Join(folders(all), " "), strings.Join(tests, " ")}, p.Tags...)
	passed := w.path("checked", key(parts...))
	if exists(passed) {
		return false, nil
	}
	end := w.Step(fmt.Sprintf("check group %s alone: compile, vet, %d tests", g.Name, len(tests)))
	defer end()
	dir, err := b.place(ctx, trees)
	if err != nil {
		return false, err
	}
	what := []string{"./..."}
	if t.Name == p.Module {
		what = nil
		for _, c := range p.Commands {
			what = append(what, "./"+c.Package)
		}
	}
	all.Patch = edit.Patch{Module: t.Name, Slug: g.Name}
	touched, err := w.packages(ctx, dir, all, p.Tags)
	if err != nil {
		return false, err
	}
	if err := w.compile(ctx, dir, what, touched, p.Tags); err != nil {
		return false, err
	}
	if len(tests) > 0 {
		args := append([]string{"test", "-vet=off", "-run=^(" + strings.Join(tests, "|") + ")$"}, tagsFlag(p.Tags)...)
		if _, err := w.golang(ctx, dir, append(args, testFolders(all)...)...); err != nil {
			return false, fmt.Errorf("tests: %w", err)
		}
	}
	return true, replaceFile(passed, nil)
}

// place checks the trees out beside one another, and returns the folder of the last.
func (b *bench) place(ctx context.Context, trees []Tree) (string, error) {
	if b.dir == "" {
		var err error
		if b.dir, err = b.w.temp("groups"); err != nil {
			return "", err
		}
	}
	for _, t := range trees {
		r, there := b.repos[t.Name]
		var err error
		if there {
			_, err = r.git(ctx, "reset", "--quiet", "--hard", t.Tip())
		} else {
			r, err = t.repo().scratch(ctx, filepath.Join(b.dir, t.Name), t.Tip())
		}
		if err != nil {
			return "", err
		}
		b.repos[t.Name] = r
	}
	return b.repos[trees[len(trees)-1].Name].work, nil
}

// union is all that the group's own patches touch, as the last of them leaves it.
func union(g edit.Group, t Tree) Commit {
	all := Commit{Files: map[string][]byte{}}
	for _, c := range t.Commits {
		if slices.Contains(g.Patches, c.Patch.Name()) {
			maps.Copy(all.Files, c.Files)
		}
	}
	return all
}

// testsOf are the names of the tests in the files of a commit.
func testsOf(c Commit) []string {
	named := map[string]bool{}
	for name, content := range c.Files {
		if content == nil || !strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
		if err != nil {
			continue // vet says it better
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") && fn.Name.Name != "TestMain" {
				named[fn.Name.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(named))
}

func testFolders(c Commit) []string {
	set := map[string]bool{}
	for name, content := range c.Files {
		if content != nil && strings.HasSuffix(name, "_test.go") {
			set["./"+path.Dir(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// ExportGroup writes the commits of a group as mail for git am, dir/NNNN-<slug>.patch,
// and before them those of its module that they need and that are not merged yet. It
// returns how many of either.
func (w *Workspace) ExportGroup(ctx context.Context, g edit.Group, dir, signer string) (needed, own int, err error) {
	trees, err := w.Alone(ctx, g)
	if err != nil {
		return 0, 0, err
	}
	t := trees[len(trees)-1]
	mails, err := t.mails(ctx, signer)
	if err != nil {
		return 0, 0, fmt.Errorf("export %s: %w", g.Name, err)
	}
	var before, its []mail
	for i, c := range t.Commits {
		if slices.Contains(g.Patches, c.Patch.Name()) {
			its = append(its, mails[i])
		} else {
			before = append(before, mails[i])
		}
	}
	return len(before), len(its), errors.Join(
		replaceMails(filepath.Join(dir, "needs"), before),
		replaceMails(dir, its))
}
