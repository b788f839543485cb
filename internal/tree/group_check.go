// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
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

// GroupCheck is the result of checking a group alone. A step is taken only after those before it
// have passed.
type GroupCheck struct {
	Group edit.Group
	Size  GroupSize

	Applies  bool
	Compiles bool // and go vet finds nothing
	Tests    int  // that it brings or edits and that passed
	Skipped  int  // that it brings or edits and that do not run here
	Now      bool // checked in this run, not in an earlier one
	Err      error
}

// CheckGroups applies each of the groups alone. It compiles and vets the packages that the group
// touches and those of the product, and runs the tests that the group brings or edits. Groups
// that passed before are not checked again. The error of a group is in its result, and does not
// stop the others.
func (w *Workspace) CheckGroups(ctx context.Context, groups []edit.Group, p Product) ([]GroupCheck, error) {
	b := bench{w: w, repos: map[string]repo{}}
	var all []GroupCheck
	for _, g := range groups {
		c := GroupCheck{Group: g}
		if err := b.check(ctx, &c, p); err != nil {
			if ctx.Err() != nil {
				return all, context.Cause(ctx)
			}
			c.Err = fmt.Errorf("group %s alone: %w", g.Name(), err)
		}
		all = append(all, c)
	}
	return all, nil
}

// A bench is a folder in which one group after the other is compiled, since most of a work tree is
// the same for all of them.
type bench struct {
	w     *Workspace
	dir   string
	repos map[string]repo // by module
}

func (b *bench) check(ctx context.Context, c *GroupCheck, p Product) error {
	w := b.w
	trees, err := w.alone(ctx, c.Group)
	if err != nil {
		return err
	}
	c.Applies = true
	t := trees[len(trees)-1]
	sizes, err := w.Sizes(ctx, []Tree{t})
	if err != nil {
		return err
	}
	c.Size = SizeOf(c.Group, []Tree{t}, sizes)
	all := union(c.Group, t)
	toolchain, err := w.toolchain(ctx, t.Work)
	if err != nil {
		return err
	}
	content, err := contents(ctx, trees)
	if err != nil {
		return err
	}
	unit := unitFiles(all)
	tests := testsOf(unit)
	parts := append([]string{"group 2", fmt.Sprint(toolchain), content.tips(trees), strings.Join(folders(all), " "), strings.Join(tests, " ")}, p.Tags...)
	passed := w.path("checked", key(parts...))
	if before, err := os.ReadFile(passed); err == nil {
		if _, err := fmt.Sscan(string(before), &c.Tests, &c.Skipped); err == nil {
			c.Compiles = true
			return nil
		}
	}
	c.Now = true
	end := w.Step(fmt.Sprintf("check group %s alone: compile, vet, %d tests", c.Group.Name(), len(tests)))
	defer end()
	dir, err := b.place(ctx, trees)
	if err != nil {
		return err
	}
	what := []string{"./..."}
	if t.Name == p.Module {
		what = p.upstreams()
	}
	all.Patch = edit.Patch{Module: t.Name, Slug: c.Group.Name()}
	touched, err := w.packages(ctx, dir, all, p.Tags)
	if err != nil {
		return err
	}
	if err := w.compile(ctx, dir, what, touched, p.Tags); err != nil {
		return err
	}
	c.Compiles = true
	if len(tests) > 0 {
		args := append([]string{"-vet=off", "-run=^(" + strings.Join(tests, "|") + ")$"}, testFolders(unit)...)
		result, err := w.testIn(ctx, dir, p.Tags, args)
		if err != nil {
			return fmt.Errorf("tests: %w", err)
		}
		c.Tests, c.Skipped = result.Ran, result.Skipped
		if result.Failed > 0 {
			return fmt.Errorf("tests fail:\n%s", result.Output)
		}
	}
	return replaceFile(passed, fmt.Appendln(nil, c.Tests, c.Skipped))
}

// place checks out the trees side by side, and returns the folder of the last.
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

// union returns all files that the group's own patches touch, as the last of them leaves them.
func union(g edit.Group, t Tree) Commit {
	all := Commit{Files: map[string][]byte{}}
	for _, c := range t.Commits {
		if g.Has(c.Patch) {
			maps.Copy(all.Files, c.Files)
		}
	}
	return all
}

// testsOf returns the names of the tests in the files of a commit.
func testsOf(c Commit) []string {
	named := map[string]bool{}
	for name, content := range c.Files {
		if content == nil || !strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
		if err != nil {
			continue // vet reports it better
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
