// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"strings"
)

// Golden lists the series as "module/slug patch-id", a line each, modules in build order. The id
// is git's stable patch id: it changes with the changes of a patch, not with their line numbers.
func (w *Workspace) Golden(ctx context.Context, trees []Tree) (string, error) {
	var golden strings.Builder
	for _, t := range trees {
		if len(t.Commits) == 0 {
			continue
		}
		r := t.repo()
		log, err := r.git(ctx, "log", "--reverse", "--patch", "--no-renames", "--unified=3", "--format=commit %H", t.Base+".."+t.Tip())
		if err != nil {
			return "", fmt.Errorf("patch ids of %s: %w", t.Name, err)
		}
		out, err := r.gitWith(ctx, strings.NewReader(log), nil, "patch-id", "--stable")
		if err != nil {
			return "", fmt.Errorf("patch ids of %s: %w", t.Name, err)
		}
		ids := map[string]string{}
		for line := range strings.Lines(out) {
			if id, commit, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				ids[commit] = id
			}
		}
		for _, c := range t.Commits {
			if ids[c.ID] == "" {
				return "", fmt.Errorf("%s: git gives no patch id for %s", c.Patch.Name(), c.ID)
			}
			fmt.Fprintf(&golden, "%s %s\n", c.Patch.Name(), ids[c.ID])
		}
	}
	return golden.String(), nil
}

// Diff returns the changes of one patch, as git shows them. The patch is given by its name, or by
// its slug if only one module has that.
func (w *Workspace) Diff(ctx context.Context, trees []Tree, name string) (string, error) {
	var found []string
	var diff func() (string, error)
	for _, t := range trees {
		for _, c := range t.Commits {
			if c.Patch.Name() != name && c.Patch.Slug != name {
				continue
			}
			found = append(found, c.Patch.Name())
			diff = func() (string, error) {
				return t.repo().git(ctx, "diff-tree", "--patch", "--no-renames", "--no-commit-id", c.ID)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("the series has no patch %q: see list", name)
	case 1:
		return diff()
	}
	return "", fmt.Errorf("%q is a patch of several modules: say which of %s", name, strings.Join(found, ", "))
}
