// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	identityName  = "unsigned"
	identityEmail = "unsigned@patches.invalid" // no person's: the sender of a patch signs it
	identityDate  = "1767225600 +0000"         // 2026-01-01, for every commit
)

// repo is a git repository and its work tree. Both are always given to git, which would otherwise
// look for a repository in the folders above, and find this one.
type repo struct {
	work string
	env  []string // in addition to the fixed one
}

func (r repo) gitDir() string { return filepath.Join(r.work, ".git") }

func (r repo) git(ctx context.Context, args ...string) (string, error) {
	return r.gitWith(ctx, nil, nil, args...)
}

func (r repo) gitWith(ctx context.Context, stdin io.Reader, stdout io.Writer, args ...string) (string, error) {
	fixed := []string{"git",
		"--git-dir=" + r.gitDir(), "--work-tree=" + r.work,
		"-c", "core.autocrlf=false", // content is never touched ...
		"-c", "core.attributesFile=/dev/null", // ... nor by attributes of the user
		"-c", "core.excludesFile=/dev/null",
		"-c", "core.hooksPath=/dev/null",
		"-c", "core.fileMode=false", // a umask is no change
		"-c", "core.fsmonitor=false",
		"-c", "core.quotePath=false",
		"-c", "commit.gpgSign=false",
		"-c", "gc.auto=0", // nothing stays in the background
		"-c", "safe.directory=*", // another user may own the output folder, as in a container
	}
	return command{
		dir:    r.work,
		stdin:  stdin,
		stdout: stdout,
		args:   append(fixed, args...),
		env: environ([]string{"GIT_", "LC_", "LANG", "XDG_CONFIG_HOME=", "EMAIL="}, append([]string{
			"LC_ALL=C", "TZ=UTC",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
			"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
			"GIT_AUTHOR_NAME=" + identityName, "GIT_AUTHOR_EMAIL=" + identityEmail, "GIT_AUTHOR_DATE=" + identityDate,
			"GIT_COMMITTER_NAME=" + identityName, "GIT_COMMITTER_EMAIL=" + identityEmail, "GIT_COMMITTER_DATE=" + identityDate,
		}, r.env...)...),
	}.run(ctx)
}

// initRepo makes an empty repository. Its attributes override a .gitattributes of upstream that
// converts line ends.
func initRepo(ctx context.Context, work string) (repo, error) {
	r := repo{work: work}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return r, err
	}
	if _, err := r.git(ctx, "init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch="+branch); err != nil {
		return r, err
	}
	info := filepath.Join(r.gitDir(), "info")
	return r, errors.Join(
		os.MkdirAll(info, 0o755),
		os.WriteFile(filepath.Join(info, "attributes"), []byte("* -text -ident -filter\n"), 0o644),
	)
}

// scratch is a repository in a temporary folder, checked out at a commit of r.
// It borrows r's objects.
func (r repo) scratch(ctx context.Context, work, commit string) (repo, error) {
	s, err := initRepo(ctx, work)
	if err != nil {
		return s, err
	}
	info := filepath.Join(s.gitDir(), "objects", "info")
	if err := errors.Join(
		os.MkdirAll(info, 0o755),
		os.WriteFile(filepath.Join(info, "alternates"), []byte(filepath.Join(r.gitDir(), "objects")+"\n"), 0o644),
	); err != nil {
		return s, err
	}
	_, err = s.git(ctx, "reset", "--quiet", "--hard", commit)
	return s, err
}

// keys lists the commits below refs by key. It fails if the repository is incomplete.
func (r repo) keys(ctx context.Context, refs string) (map[string]string, error) {
	out, err := r.git(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(tree)", refs)
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("%s: unexpected reference %q", r.work, line)
		}
		keys[strings.TrimPrefix(f[0], refs)] = f[1]
	}
	return keys, nil
}
