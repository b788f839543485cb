// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// exported matches the files that Export writes, unfinished ones included. It removes them once
// they no longer belong to the series.
var exported = regexp.MustCompile(`^(\d{4}-[a-z0-9-]+\.patch|\.new-\d+)$`)

// Export writes each commit as a mail for git am, dir/<module>/NNNN-<slug>.patch. With a signer,
// "Name <address>", the mail is from that person and signed off by them. It returns the number of
// files.
func (w *Workspace) Export(ctx context.Context, trees []Tree, dir, signer string) (int, error) {
	count := 0
	for _, t := range trees {
		mails, err := t.mails(ctx, signer)
		if err != nil {
			return 0, fmt.Errorf("export %s: %w", t.Name, err)
		}
		if err := replaceMails(filepath.Join(dir, t.Name), mails); err != nil {
			return 0, fmt.Errorf("export %s: %w", t.Name, err)
		}
		count += len(mails)
	}
	return count, nil
}

type mail struct {
	name    string
	content []byte
}

func (t Tree) mails(ctx context.Context, signer string) ([]mail, error) {
	r := t.repo()
	args := []string{"format-patch", "-1", "--stdout",
		"--zero-commit",  // the commit's id says nothing to upstream
		"--full-index",   // abbreviations grow with a repository
		"--no-signature", // the version of git is no part of a patch
		"--no-numbered",  // nor is its place among others
		"--no-renames",   // git's settings decide which changes are renames
	}
	if signer != "" {
		name, address, _ := strings.Cut(strings.TrimSuffix(signer, ">"), " <")
		r.env = []string{"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + address}
		args = append(args, "--signoff")
		signer = mime.QEncoding.Encode("utf-8", name) + " <" + address + ">"
	}
	var mails []mail
	for i, c := range t.Commits {
		content, err := r.git(ctx, append(args, c.ID)...)
		if err != nil {
			return nil, err
		}
		if signer != "" {
			// Upstream's check demands that the author signs off.
			content = strings.Replace(content, "\nFrom: "+identityName+" <"+identityEmail+">\n", "\nFrom: "+signer+"\n", 1)
		}
		mails = append(mails, mail{fmt.Sprintf("%04d-%s.patch", i+1, c.Patch.Slug), []byte(content)})
	}
	return mails, nil
}

// replaceMails writes the files and removes those of former exports. It leaves all other files in
// the folder alone.
func replaceMails(dir string, mails []mail) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	current := map[string]bool{}
	for _, m := range mails {
		current[m.name] = true
		if err := replaceFile(filepath.Join(dir, m.name), m.content); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !current[e.Name()] && exported.MatchString(e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Signer is the caller's own git identity, as git knows it in folder dir.
func Signer(ctx context.Context, dir string) (string, error) {
	// Unlike everywhere else, this uses the user's settings and environment.
	out, err := command{dir: dir, env: os.Environ(), args: []string{"git", "-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"}}.run(ctx)
	end := strings.LastIndexByte(out, '>')
	if err != nil || end < 0 {
		return "", errors.New("signing off needs your git identity: set it with git config --global user.name and user.email")
	}
	return out[:end+1], nil
}
