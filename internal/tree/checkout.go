// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkout checks a commit out. A marker file exists meanwhile: it shows the next run an
// interrupted checkout, which that repeats. A work tree that was edited by hand has no marker,
// and is not touched.
func (r repo) checkout(ctx context.Context, commit, name string) error {
	marker := filepath.Join(r.gitDir(), "hookline-checkout")
	halfway := exists(marker)
	at, _ := r.git(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
	at = strings.TrimSpace(at)
	if !halfway && at != "" {
		edited, err := r.edited(ctx)
		if err != nil {
			return err
		}
		if edited != "" {
			return fmt.Errorf("%s was edited by hand (%s): make it a patch, then discard it with git -C %s stash --include-untracked", r.work, edited, r.work)
		}
		if at == commit {
			return nil
		}
	}
	if err := os.WriteFile(marker, nil, 0o644); err != nil {
		return err
	}
	if halfway {
		_ = os.Remove(filepath.Join(r.gitDir(), "index.lock"))
		_ = os.Remove(filepath.Join(r.gitDir(), "HEAD.lock"))
	}
	if _, err := r.git(ctx, "checkout", "--quiet", "--force", "-B", branch, commit); err != nil {
		return err
	}
	if halfway {
		if _, err := r.git(ctx, "clean", "--quiet", "-ffdx"); err != nil {
			return err
		}
	}
	return os.Remove(marker)
}

// edited names the files that differ from the commit that is checked out.
func (r repo) edited(ctx context.Context) (string, error) {
	out, err := r.git(ctx, "status", "--porcelain", "--untracked-files=all")
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if lines[0] == "" {
		return "", nil
	}
	if len(lines[0]) < 4 {
		return "", errors.New("git status: " + lines[0])
	}
	edited := lines[0][3:]
	if more := len(lines) - 1; more > 0 {
		edited += fmt.Sprintf(" and %d more", more)
	}
	return edited, nil
}
