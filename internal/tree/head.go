// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Head is the commit of this repository, as it is checked out.
type Head struct {
	Commit   string
	Modified bool // files differ from the commit
	Time     time.Time
}

// Head asks git for the commit that the repository at Root is at.
func (w *Workspace) Head(ctx context.Context) (Head, error) {
	ask := func(args ...string) (string, error) {
		out, err := command{dir: w.Root, env: environ([]string{"GIT_"}, "LC_ALL=C"), args: append([]string{"git", "-c", "safe.directory=*"}, args...)}.run(ctx)
		return strings.TrimSpace(out), err
	}
	said, err := ask("log", "-1", "--format=%H %ct")
	if err != nil {
		return Head{}, errors.Join(fmt.Errorf("%s is no git checkout: a release names the commit that it is made of", w.Root), err)
	}
	commit, seconds, _ := strings.Cut(said, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return Head{}, fmt.Errorf("time of commit %s: %w", commit, err)
	}
	changed, err := ask("status", "--porcelain")
	return Head{Commit: commit, Modified: changed != "", Time: time.Unix(at, 0).UTC()}, err
}

// Go returns the version of the go command that builds a tree.
func (w *Workspace) Go(ctx context.Context, t Tree) (string, error) {
	toolchain, err := w.toolchain(ctx, t.Work)
	return toolchain["GOVERSION"], err
}

// Temp makes a folder that lasts until the workspace is closed.
func (w *Workspace) Temp(name string) (string, error) { return w.temp(name) }

// ReplaceFolder replaces a folder by one that Temp has made.
func ReplaceFolder(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := removeAll(to); err != nil {
		return err
	}
	if err := os.Chmod(from, 0o755); err != nil {
		return err
	}
	return os.Rename(from, to)
}
