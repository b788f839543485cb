// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Onto makes the exported group in dir a branch of its name in a clone of upstream. The branch is
// based on the tag of the release that go.mod pins, which is returned. The clone must be clean and
// have no such branch. If the group needs patches of another module, a clone of that module must
// be where go.mod looks for it. The author of the commits is that of the mails; the committer is
// the user. If upstream has a vendor folder, each commit updates it with upstream's make target.
func (w *Workspace) Onto(ctx context.Context, g edit.Group, dir, clone string) (string, error) {
	// The user's own settings apply: it is the user's clone, and the user's commits.
	git := func(args ...string) (string, error) {
		return command{dir: clone, env: os.Environ(), args: append([]string{"git"}, args...)}.run(ctx)
	}
	if !exists(filepath.Join(clone, ".git")) {
		return "", fmt.Errorf("%s is no clone: make one of the repository of upstream", clone)
	}
	status, err := git("status", "--porcelain")
	if err != nil {
		return "", fmt.Errorf("%s: %w", clone, err)
	}
	if status != "" {
		return "", fmt.Errorf("%s has changes: commit or stash them", clone)
	}
	trees, err := w.alone(ctx, g)
	if err != nil {
		return "", err
	}
	t := trees[len(trees)-1]
	if err := w.beside(g, t, clone); err != nil {
		return "", err
	}
	var mails []string
	for _, folder := range []string{filepath.Join(dir, "needs"), dir} {
		found, err := filepath.Glob(filepath.Join(folder, "*.patch"))
		if err != nil {
			return "", err
		}
		slices.Sort(found)
		mails = append(mails, found...)
	}
	if _, err := git("switch", "--quiet", "--create", g.Name(), t.Version); err != nil {
		return "", fmt.Errorf("branch %s of %s on tag %s: %w", g.Name(), clone, t.Version, err)
	}
	for _, mail := range mails {
		if err := w.take(ctx, t, clone, mail, git); err != nil {
			return "", fmt.Errorf("%s: %s: %w\nthe unfinished branch %s is left, remove it: git switch --discard-changes - && git branch -D %s", clone, filepath.Base(mail), err, g.Name(), g.Name())
		}
	}
	return t.Version, nil
}

// beside makes sure that other modules are where go.mod looks for them once the group is applied
// to the clone.
func (w *Workspace) beside(g edit.Group, t Tree, clone string) error {
	gomod := t.Files()["go.mod"]
	if gomod == nil {
		return nil
	}
	parsed, err := modfile.Parse("go.mod", gomod, nil)
	if err != nil {
		return err
	}
	for _, r := range parsed.Replace {
		if r.New.Version != "" {
			continue
		}
		where := filepath.Join(clone, filepath.FromSlash(r.New.Path))
		content, err := os.ReadFile(filepath.Join(where, "go.mod"))
		if err == nil && modfile.ModulePath(content) == r.Old.Path {
			continue
		}
		first := ""
		for _, need := range w.Series.Needs(g) {
			for _, m := range w.Series.Modules {
				if m.Name == need.Module() && m.Path == r.Old.Path {
					first = need.Name() // the last one has those before it
				}
			}
		}
		return fmt.Errorf("%s: no clone of %s, which this needs with patches: make one, and run export --group %s --onto %s", where, r.Old.Path, first, where)
	}
	return nil
}

// take makes a commit of a mail, and completes it with upstream's vendor folder.
func (w *Workspace) take(ctx context.Context, t Tree, clone, mail string, git func(...string) (string, error)) error {
	mail, err := filepath.Abs(mail)
	if err != nil {
		return err
	}
	if _, err := git("am", "--quiet", "--ignore-date", mail); err != nil {
		_, aborted := git("am", "--abort")
		return errors.Join(fmt.Errorf("git am: %w", err), aborted)
	}
	if !exists(filepath.Join(clone, "vendor")) {
		return nil
	}
	if due, err := revendor(t.Path, git); err != nil || !due {
		return err
	}
	end := w.Step("make vendor in " + clone + " for " + filepath.Base(mail))
	defer end()
	if _, err := (command{dir: clone, env: os.Environ(), args: []string{"make", "vendor"}}).run(ctx); err != nil {
		return fmt.Errorf("make vendor: %w", err)
	}
	if _, err := git("add", "--all"); err != nil {
		return err
	}
	_, err = git("commit", "--quiet", "--amend", "--no-edit")
	return err
}
