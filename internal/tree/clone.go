// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/hookline-nri/hookline/internal/edit"
)

// cloned returns the commit that a clone of a module's repository has checked out, or that HEAD
// of a bare clone names. Its version is that of git describe, such as v2.4.0-rc.1-17-gabcdef.
// Changes that are not committed are not in it.
func (w *Workspace) cloned(ctx context.Context, m edit.Module, clone string) (Source, error) {
	dir, err := w.temp("clone")
	if err != nil {
		return Source{}, err
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return Source{}, err
	}
	ask := func(args ...string) (string, error) {
		out, err := command{
			dir: clone, args: append([]string{"git", "-c", "safe.directory=*"}, args...),
			// A work tree of our own: a bare clone has none.
			env: environ([]string{"GIT_"}, "GIT_WORK_TREE="+work, "GIT_INDEX_FILE="+filepath.Join(dir, "index"), "LC_ALL=C"),
		}.run(ctx)
		return strings.TrimSpace(out), err
	}
	shallow, err := ask("rev-parse", "--is-shallow-repository")
	if err != nil {
		return Source{}, fmt.Errorf("%s is no clone: %w", clone, err)
	}
	version, err := ask("describe", "--tags", "--match", "v[0-9]*", "--abbrev=12")
	if err == nil && !semver.IsValid(version) {
		err = fmt.Errorf("%q is no version", version)
	}
	if err != nil {
		fetch := "fetch --tags"
		if shallow == "true" {
			fetch += " --unshallow" // git counts the commits since the tag
		}
		return Source{}, fmt.Errorf("%s has no tag such as v1.2.3 before its commit, and so no version: run git -C %s %s: %w", clone, clone, fetch, err)
	}
	for _, args := range [][]string{{"read-tree", "HEAD"}, {"checkout-index", "--all"}} {
		if _, err := ask(args...); err != nil {
			return Source{}, fmt.Errorf("files of %s: %w", clone, err)
		}
	}
	if err := filesAlone(work); err != nil {
		return Source{}, fmt.Errorf("files of %s: %w", clone, err)
	}
	// The go command would take dependencies from there, and the patches do not change those.
	if err := removeAll(filepath.Join(work, "vendor")); err != nil {
		return Source{}, err
	}
	content, err := os.ReadFile(filepath.Join(work, "go.mod"))
	if err != nil || modfile.ModulePath(content) != m.Path {
		return Source{}, fmt.Errorf("%s is no clone of %s: its go.mod is that of %q", clone, m.Path, modfile.ModulePath(content))
	}
	sum, err := dirhash.HashDir(work, m.Path+"@"+version, dirhash.Hash1)
	return Source{Module: m, Version: version, Sum: sum, Dir: work}, err
}

// filesAlone removes symbolic links: the go command leaves them out of a module, too.
func filesAlone(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type().IsRegular() {
			return err
		}
		return os.Remove(path)
	})
}
