// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Onto makes the exported group in dir the branch of its name in a clone of upstream,
// and returns what that is based on: the tag of the release that go.mod pins. The clone
// has to be clean and without such a branch. The author of the commits is the one of the
// mails; the committer is whoever runs this. Upstream's vendor folder is completed by
// upstream's own make target, where there is one and go.mod was changed.
func (w *Workspace) Onto(ctx context.Context, g edit.Group, dir, clone string) (string, error) {
	// The user's own settings hold: it is the user's clone, and the user's commits.
	git := func(args ...string) (string, error) {
		return command{dir: clone, env: os.Environ(), args: append([]string{"git"}, args...)}.run(ctx)
	}
	status, err := git("status", "--porcelain")
	if err != nil {
		return "", fmt.Errorf("%s: %w", clone, err)
	}
	if status != "" {
		return "", fmt.Errorf("%s has changes: commit or stash them", clone)
	}
	trees, err := w.Alone(ctx, g)
	if err != nil {
		return "", err
	}
	t := trees[len(trees)-1]
	if _, err := git("switch", "--quiet", "--create", g.Name, t.Version); err != nil {
		return "", fmt.Errorf("branch %s of %s on tag %s: %w", g.Name, clone, t.Version, err)
	}
	var mails []string
	for _, folder := range []string{filepath.Join(dir, "needs"), dir} {
		found, err := filepath.Glob(filepath.Join(folder, "*.patch"))
		if err != nil {
			return "", err
		}
		slices.Sort(found)
		for _, mail := range found {
			if mail, err = filepath.Abs(mail); err != nil {
				return "", err
			}
			mails = append(mails, mail)
		}
	}
	if _, err := git(append([]string{"am", "--quiet"}, mails...)...); err != nil {
		_, aborted := git("am", "--abort")
		return "", errors.Join(fmt.Errorf("%s: git am: %w", clone, err), aborted)
	}
	return t.Version, w.vendor(ctx, clone, t.Version, git)
}

// vendor completes the last commit with upstream's vendor folder.
func (w *Workspace) vendor(ctx context.Context, clone, from string, git func(...string) (string, error)) error {
	changed, err := git("diff", "--name-only", from, "HEAD", "--", "go.mod")
	if err != nil || strings.TrimSpace(changed) == "" || !exists(filepath.Join(clone, "vendor")) {
		return err
	}
	end := w.Step("make vendor in " + clone)
	defer end()
	if _, err := (command{dir: clone, env: os.Environ(), args: []string{"make", "vendor"}}).run(ctx); err != nil {
		return fmt.Errorf("%s: make vendor: %w", clone, err)
	}
	if _, err := git("add", "--all"); err != nil {
		return err
	}
	_, err = git("commit", "--quiet", "--amend", "--no-edit")
	return err
}
