// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Check compiles and vets every commit: the packages it touches, and those that the product is
// built from, with the tags that all its commands share. A module that is not the product is
// compiled whole. Commits that passed before are not checked again. It returns the number of
// commits that were checked.
func (w *Workspace) Check(ctx context.Context, trees []Tree, p Product) (checked int, err error) {
	// In build order: a commit is compiled with the tips of the modules before.
	for i := range trees {
		n, err := w.checkTree(ctx, trees[:i+1], p)
		checked += n
		if err != nil {
			return checked, err
		}
	}
	return checked, nil
}

// CheckLast is Check of only the last commit of each module, with all packages that the series
// touches. It does not check that each commit compiles.
func (w *Workspace) CheckLast(ctx context.Context, trees []Tree, p Product) (checked int, err error) {
	last := slices.Clone(trees)
	for i, t := range last {
		if n := len(t.Commits); n > 0 {
			whole := t.Commits[n-1]
			whole.Files, whole.scope = t.Files(), " of all"
			last[i].Commits = []Commit{whole}
		}
	}
	return w.Check(ctx, last, p)
}

func (w *Workspace) checkTree(ctx context.Context, trees []Tree, p Product) (checked int, err error) {
	t := trees[len(trees)-1]
	toolchain, err := w.toolchain(ctx, t.Work)
	if err != nil {
		return 0, err
	}
	what := []string{"./..."}
	if t.Name == p.Module {
		what = p.upstreams()
	}
	content, err := contents(ctx, trees)
	if err != nil {
		return 0, err
	}
	var due []checkedCommit
	for _, c := range t.Commits {
		if err := formatted(c); err != nil {
			return 0, err
		}
		passed := w.path("checked", key(append([]string{"check 2" + c.scope, fmt.Sprint(toolchain), content.tips(trees[:len(trees)-1]), content[c.ID], strings.Join(folders(c), " ")}, append(p.Tags, what...)...)...))
		if !exists(passed) {
			due = append(due, checkedCommit{c, passed})
		}
	}
	return w.checkSideBySide(ctx, trees, due, what, p.Tags)
}

// A checkedCommit is a commit, and the file that records that it passed.
type checkedCommit struct {
	Commit
	passed string
}

// checkSideBySide checks commits in as many work trees as the machine has processors, since most
// of a compilation waits for one package. Commits after one that fails mostly fail as well. So
// commits are begun in order, none is begun after a failure, and the first failure is returned.
func (w *Workspace) checkSideBySide(ctx context.Context, trees []Tree, due []checkedCommit, what, tags []string) (checked int, err error) {
	var mu sync.Mutex // guards next, checked and failures
	next, failures := 0, make([]error, len(due))
	take := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= len(due)
	}
	put := func(i int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if failures[i] = err; err != nil {
			next = len(due)
			return
		}
		checked++
	}
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(due)) {
		work.Go(func() {
			var r repo
			for i, ok := take(); ok; i, ok = take() {
				var err error
				if r, err = w.checkOut(ctx, r, trees, due[i].Commit); err == nil {
					err = w.checkCommit(ctx, due[i].Commit, r.work, what, tags)
				}
				if err == nil {
					err = replaceFile(due[i].passed, nil)
				}
				put(i, err)
			}
		})
	}
	work.Wait()
	for _, err := range failures {
		if err != nil {
			return checked, err
		}
	}
	return checked, nil
}

// checkOut puts a commit of the last of the trees into the work tree r, which is made if it does
// not exist yet.
func (w *Workspace) checkOut(ctx context.Context, r repo, trees []Tree, c Commit) (repo, error) {
	if r.work != "" {
		_, err := r.git(ctx, "reset", "--quiet", "--hard", c.ID)
		return r, err
	}
	dir, err := w.temp("check")
	if err != nil {
		return repo{}, err
	}
	t := trees[len(trees)-1]
	if err := w.borrow(ctx, trees[:len(trees)-1], dir); err != nil {
		return repo{}, err
	}
	return t.repo().scratch(ctx, filepath.Join(dir, t.Name), c.ID)
}

// borrow puts the tips of modules beside the tree to compile, where its go.mod
// looks for them.
func (w *Workspace) borrow(ctx context.Context, trees []Tree, dir string) error {
	for _, t := range trees {
		if _, err := t.repo().scratch(ctx, filepath.Join(dir, t.Name), t.Tip()); err != nil {
			return err
		}
	}
	return nil
}

func (w *Workspace) checkCommit(ctx context.Context, c Commit, dir string, what, tags []string) error {
	end := w.Step(fmt.Sprintf("check %s: compile and vet", c.Patch.Name()))
	defer end()
	touched, err := w.packages(ctx, dir, c, tags)
	if err != nil {
		return err
	}
	if err := w.compile(ctx, dir, what, touched, tags); err != nil {
		return fmt.Errorf("%s: %w", c.Patch.Name(), err)
	}
	return nil
}

// compile compiles the packages what and touched, and vets the touched ones.
func (w *Workspace) compile(ctx context.Context, dir string, what, touched, tags []string) error {
	// -export compiles, as build does, but spends no time on linking.
	list := append(append([]string{"list", "-export", "-f={{with .Error}}{{.}}{{end}}"}, tagsFlag(tags)...), append(what, touched...)...)
	if _, err := w.golang(ctx, dir, list...); err != nil {
		return fmt.Errorf("does not compile: %w", err)
	}
	if len(touched) == 0 {
		return nil
	}
	if _, err := w.golang(ctx, dir, append(append([]string{"vet"}, tagsFlag(tags)...), touched...)...); err != nil {
		return fmt.Errorf("vet: %w", err)
	}
	return nil
}

// packages lists the packages that a commit touches and that exist on this platform.
func (w *Workspace) packages(ctx context.Context, dir string, c Commit, tags []string) ([]string, error) {
	folders := folders(c)
	if len(folders) == 0 {
		return nil, nil
	}
	list := append(append([]string{"list", "-e", "-f={{if or .GoFiles .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"}, tagsFlag(tags)...), folders...)
	out, err := w.golang(ctx, dir, list...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Patch.Name(), err)
	}
	return strings.Fields(out), nil
}

// folders of the Go files that a commit touches, as patterns for the go command.
func folders(c Commit) []string {
	set := map[string]bool{}
	for name, content := range c.Files {
		if content != nil && strings.HasSuffix(name, ".go") && !strings.Contains("/"+name, "/testdata/") {
			set["./"+path.Dir(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// formatted returns an error for files that gofmt would change. Line ends are upstream's.
func formatted(c Commit) error {
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		src := bytes.ReplaceAll(c.Files[name], []byte("\r\n"), []byte("\n"))
		out, err := format.Source(src)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", c.Patch.Name(), name, err)
		}
		if !bytes.Equal(src, out) {
			return fmt.Errorf("%s: %s is not gofmt-clean", c.Patch.Name(), name)
		}
	}
	return nil
}
