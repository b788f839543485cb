// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookline-nri/hookline/internal/edit"
)

// alone returns the trees of a group: only its patches and those that they need, on the pristine
// modules. Modules without such a patch are left out, unless the group is built with the modules
// beside it. The commits go beside those of the series, whose work trees stay as they are.
func (w *Workspace) alone(ctx context.Context, g edit.Group) ([]Tree, error) {
	with := w.Series.With(g)
	beside := slices.ContainsFunc(with.Patches, func(p edit.Patch) bool { return p.Status == edit.Drop })
	with.Modules = slices.DeleteFunc(slices.Clone(with.Modules), func(m edit.Module) bool {
		return !beside && !slices.ContainsFunc(with.Patches, func(p edit.Patch) bool { return p.Module == m.Name })
	})
	reduced := *w
	reduced.Series = with
	sources, err := reduced.sources(ctx)
	if err != nil {
		return nil, err
	}
	plans, err := render(with, sources, os.DirFS(w.Root))
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", g.Name(), err)
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
				return nil, fmt.Errorf("group %s: %w", g.Name(), cause(ctx, err))
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

// ExportGroup writes the commits of a group as mails for git am, dir/NNNN-<slug>.patch. Before
// them come the commits of its module that they need and that are not merged yet. It returns the
// number of both.
func (w *Workspace) ExportGroup(ctx context.Context, g edit.Group, dir, signer string) (needed, own int, err error) {
	trees, err := w.alone(ctx, g)
	if err != nil {
		return 0, 0, err
	}
	t := trees[len(trees)-1]
	mails, err := t.mails(ctx, signer)
	if err != nil {
		return 0, 0, fmt.Errorf("export %s: %w", g.Name(), err)
	}
	var before, its []mail
	for i, c := range t.Commits {
		if g.Has(c.Patch) {
			its = append(its, mails[i])
		} else {
			before = append(before, mails[i])
		}
	}
	return len(before), len(its), errors.Join(
		replaceMails(filepath.Join(dir, "needs"), before),
		replaceMails(dir, its))
}
