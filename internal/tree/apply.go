// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

const (
	branch = "hookline"       // the series, checked out
	base   = "upstream"       // tag of the pristine module
	refs   = "refs/hookline/" // a reference per commit, named by its key
	groups = "refs/groups/"   // the same for commits of groups on their own
)

// Tree is a module with its patches applied.
type Tree struct {
	Source
	Work    string // work tree of the repository
	Base    string // commit of the pristine module
	Commits []Commit
	New     int // how many of the commits this run made
}

// Commit is a patch in a tree.
type Commit struct {
	Patch edit.Patch
	ID    string
	Files map[string][]byte // after the patch, by path below the module's root

	scope string // of a check, if Files are more than those of the commit
}

// Tip returns the last commit.
func (t Tree) Tip() string {
	if n := len(t.Commits); n > 0 {
		return t.Commits[n-1].ID
	}
	return t.Base
}

// Files returns all files that the patches touch, as they are after the last one, by path below
// the module's root. A removed file is nil.
func (t Tree) Files() map[string][]byte {
	files := map[string][]byte{}
	for _, c := range t.Commits {
		maps.Copy(files, c.Files)
	}
	return files
}

func (t Tree) repo() repo { return repo{work: t.Work} }

// Apply updates the trees of all modules to the series. Nothing is written unless
// every patch fits.
func (w *Workspace) Apply(ctx context.Context) ([]Tree, error) {
	sources, err := w.sources(ctx)
	if err != nil {
		return nil, err
	}
	plans, err := render(w.Series, sources, os.DirFS(w.Root))
	if err != nil {
		return nil, err
	}
	trees := make([]Tree, 0, len(plans))
	for _, p := range plans {
		t, err := w.grow(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("apply %s: %w", p.Name, cause(ctx, err))
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// grow makes the commits of a plan that do not exist yet, and checks out the last.
func (w *Workspace) grow(ctx context.Context, p plan) (Tree, error) {
	t := Tree{Source: p.Source, Work: w.path("src", p.Name)}
	r, known, err := w.repository(ctx, t.Work)
	if err != nil {
		return t, err
	}
	// A commit's key covers all commits before it: either all are missing, with the base,
	// or the last ones.
	from, kept := known[p.key], 0
	for from != "" && kept < len(p.changes) && known[p.changes[kept].key] != "" {
		from = known[p.changes[kept].key]
		kept++
	}
	if t.New = len(p.changes) - kept; from == "" || t.New > 0 {
		what := fmt.Sprintf("apply %s %s: %d of %d patches", p.Name, p.Version, t.New, len(p.changes))
		if len(p.changes) == 0 {
			what = fmt.Sprintf("unpack %s %s", p.Name, p.Version)
		}
		end := w.Step(what)
		defer end()
		if err := r.write(ctx, p, from, p.changes[kept:]); err != nil {
			return t, err
		}
		if known, err = r.keys(ctx, refs); err != nil {
			return t, err
		}
	}
	t.Base = known[p.key]
	delete(known, p.key)
	for _, c := range p.changes {
		t.Commits = append(t.Commits, Commit{Patch: c.patch, ID: known[c.key], Files: c.files})
		delete(known, c.key)
	}
	if err := r.checkout(ctx, t.Tip(), p.Name); err != nil {
		return t, err
	}
	return t, r.forget(ctx, t.Base, known)
}

// repository opens the repository at work. An incomplete or missing one is made again: all of
// its content can be restored.
func (w *Workspace) repository(ctx context.Context, work string) (repo, map[string]string, error) {
	r := repo{work: work}
	if exists(r.gitDir()) {
		known, err := r.keys(ctx, refs)
		if err == nil || ctx.Err() != nil {
			return r, known, err
		}
	}
	// It is made elsewhere and renamed: a repository at work is always complete.
	fresh, err := w.temp("init")
	if err != nil {
		return r, nil, err
	}
	if _, err := initRepo(ctx, fresh); err != nil {
		return r, nil, err
	}
	if err := os.MkdirAll(filepath.Dir(work), 0o755); err != nil {
		return r, nil, err
	}
	if err := removeAll(work); err != nil {
		return r, nil, err
	}
	return r, map[string]string{}, os.Rename(fresh, work)
}

// forget drops the references of commits that no longer belong to the series, and moves the tag
// of the base.
func (r repo) forget(ctx context.Context, baseCommit string, stale map[string]string) error {
	var todo strings.Builder
	for key := range stale {
		fmt.Fprintf(&todo, "delete %s%s\n", refs, key)
	}
	if at, _ := r.git(ctx, "rev-parse", "--quiet", "--verify", "refs/tags/"+base); strings.TrimSpace(at) != baseCommit {
		fmt.Fprintf(&todo, "update refs/tags/%s %s\n", base, baseCommit)
	}
	if todo.Len() == 0 {
		return nil
	}
	_, err := r.gitWith(ctx, strings.NewReader(todo.String()), nil, "update-ref", "--stdin")
	return err
}
