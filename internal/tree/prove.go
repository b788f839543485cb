// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"path/filepath"
)

// Prove runs `git am` with the exported files on the pristine modules, each in
// a fresh repository, and compares every commit's tree and message with ours.
func (w *Workspace) Prove(ctx context.Context, trees []Tree) error {
	end := w.Step("git am of the export onto the pristine modules")
	defer end()
	dir, err := w.temp("am")
	if err != nil {
		return err
	}
	if _, err := w.Export(ctx, trees, filepath.Join(dir, "series"), ""); err != nil {
		return err
	}
	for _, t := range trees {
		if err := t.prove(ctx, dir); err != nil {
			return fmt.Errorf("export %s: %w", t.Name, err)
		}
	}
	return nil
}

func (t Tree) prove(ctx context.Context, dir string) error {
	r, err := t.repo().scratch(ctx, filepath.Join(dir, t.Name), t.Base)
	if err != nil {
		return err
	}
	mails, err := filepath.Glob(filepath.Join(dir, "series", t.Name, "*.patch"))
	if err != nil {
		return err
	}
	if len(mails) != len(t.Commits) {
		return fmt.Errorf("%d files for %d commits", len(mails), len(t.Commits))
	}
	for i, c := range t.Commits {
		if _, err := r.git(ctx, "am", "--quiet", mails[i]); err != nil {
			return fmt.Errorf("%s does not apply: %w", filepath.Base(mails[i]), err)
		}
		ours, err := t.repo().content(ctx, c.ID)
		if err != nil {
			return err
		}
		theirs, err := r.content(ctx, "HEAD")
		if err != nil {
			return err
		}
		if ours != theirs {
			return fmt.Errorf("%s gives another commit than the patch:\n--- patch\n%s--- git am\n%s", filepath.Base(mails[i]), ours, theirs)
		}
	}
	return nil
}

// content returns tree and message of a commit, without its author, date and parent.
func (r repo) content(ctx context.Context, commit string) (string, error) {
	return r.git(ctx, "log", "-1", "--format=tree %T%n%B", commit)
}
