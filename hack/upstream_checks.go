// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
	"golang.org/x/mod/modfile"

	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) upstreamChecks() *cli.Command {
	return &cli.Command{
		Name:      "upstream-checks",
		Usage:     "run upstream's own checks on the patched trees",
		UsageText: "go run ./hack upstream-checks",
		Description: `Runs, for each module, golangci-lint with upstream's configuration on the lines that the
patches change. Checks that go.mod and go.sum are tidy, that new files have upstream's
licence notice, and that no line ends in blanks. Checks that need a clone, a network or
other programs are not run: see docs/upstreaming.md. It takes many minutes.`,
		Before: takes(0, ""),
		Action: a.applied(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace, trees []tree.Tree) error {
			out := cmd.String("output")
			if err := a.goTool(ctx, "build golangci-lint", filepath.Join("hack", "tools", "lint"), out); err != nil {
				return err
			}
			linter, err := filepath.Abs(filepath.Join(out, "tools", "bin", "golangci-lint"))
			if err != nil {
				return err
			}
			var errs []error
			for _, t := range trees {
				for _, check := range []struct {
					name string
					run  func(context.Context, tree.Tree) error
				}{
					{"blanks at the end of lines", a.blanks},
					{"licence notice", a.notices},
					{"go mod tidy", a.tidy},
					{"golangci-lint", func(ctx context.Context, t tree.Tree) error { return a.linted(ctx, t, linter) }},
				} {
					end := a.progress.Step(fmt.Sprintf("%s: %s", t.Name, check.name))
					err := check.run(ctx, t)
					end()
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					verdict := "pass"
					if err != nil {
						verdict = "FAIL"
						errs = append(errs, fmt.Errorf("%s: %s: %w", t.Name, check.name, err))
					}
					fmt.Fprintf(a.stdout, "%s  %s: %s\n", verdict, t.Name, check.name)
				}
			}
			return errors.Join(errs...)
		}),
	}
}

// prints runs a program in a tree. The error has its output.
func prints(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%w\n%s", err, out)
	}
	return string(out), nil
}

func (a *app) blanks(ctx context.Context, t tree.Tree) error {
	_, err := prints(ctx, t.Work, "git", "diff", "--check", t.Base, t.Tip())
	return err
}

// notices compares the notice of new files with that of a file of upstream.
func (a *app) notices(ctx context.Context, t tree.Tree) error {
	added, err := prints(ctx, t.Work, "git", "diff", "--name-only", "--diff-filter=A", t.Base, t.Tip(), "--", "*.go")
	if err != nil {
		return err
	}
	notice, err := notice(ctx, t)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range strings.Fields(added) {
		content, err := os.ReadFile(filepath.Join(t.Work, name))
		if err != nil {
			return err
		}
		if !strings.Contains(string(content[:min(len(content), 2000)]), notice) {
			errs = append(errs, fmt.Errorf("%s: has not upstream's notice", name))
		}
	}
	return errors.Join(errs...)
}

// notice returns the first comment of the first file of upstream that begins with one.
func notice(ctx context.Context, t tree.Tree) (string, error) {
	files, err := prints(ctx, t.Work, "git", "ls-tree", "-r", "--name-only", t.Base)
	if err != nil {
		return "", err
	}
	for name := range strings.Lines(files) {
		name = strings.TrimSpace(name)
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		content, err := prints(ctx, t.Work, "git", "show", t.Base+":"+name)
		if err != nil {
			return "", err
		}
		if end := strings.Index(content, "*/\n"); strings.HasPrefix(content, "/*\n") && end > 0 && strings.Contains(content[:end], "License") {
			return content[:end], nil
		}
	}
	return "", errors.New("no file of upstream has a licence notice")
}

// tidy ignores the checksums of modules that are taken from beside the tree until they have a
// release.
func (a *app) tidy(ctx context.Context, t tree.Tree) error {
	diff, err := prints(ctx, t.Work, "go", "mod", "tidy", "-diff")
	if err == nil {
		return nil
	}
	content, read := os.ReadFile(filepath.Join(t.Work, "go.mod"))
	if read != nil {
		return read
	}
	parsed, bad := modfile.Parse("go.mod", content, nil)
	if bad != nil {
		return bad
	}
	changes := 0
	for line := range strings.Lines(diff) {
		changed := strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")
		if !changed || strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if !slices.ContainsFunc(parsed.Replace, func(r *modfile.Replace) bool {
			return r.New.Version == "" && strings.HasPrefix(line, "-"+r.Old.Path+" ")
		}) {
			return err
		}
		changes++
	}
	if changes == 0 { // it failed for another reason
		return err
	}
	return nil
}

// linted runs the linter with upstream's configuration in the tree.
func (a *app) linted(ctx context.Context, t tree.Tree, linter string) error {
	dirs := map[string]bool{}
	for name, content := range t.Files() {
		if content != nil && strings.HasSuffix(name, ".go") && !strings.Contains("/"+name, "/testdata/") {
			dirs["./"+path.Dir(name)] = true
		}
	}
	args := []string{"run", "--new-from-rev=" + t.Base, "--timeout=30m", "--allow-parallel-runners"}
	config, err := a.configured(ctx, t, linter)
	if err != nil {
		return err
	}
	if config != "" {
		defer func() { _ = os.RemoveAll(filepath.Dir(config)) }()
		args = append(args, "--config="+config)
	}
	_, err = prints(ctx, t.Work, linter, append(args, slices.Sorted(maps.Keys(dirs))...)...)
	return err
}

// configured returns upstream's configuration, converted to the form of the linter's second version
// if it is in that of the first.
func (a *app) configured(ctx context.Context, t tree.Tree, linter string) (string, error) {
	for _, name := range []string{".golangci.yml", ".golangci.yaml"} {
		content, err := os.ReadFile(filepath.Join(t.Work, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil || strings.Contains("\n"+string(content), "\nversion:") {
			return "", err
		}
		dir, err := os.MkdirTemp("", "golangci-")
		if err != nil {
			return "", err
		}
		config := filepath.Join(dir, name)
		if err := os.WriteFile(config, content, 0o600); err != nil {
			return "", err
		}
		_, err = prints(ctx, dir, linter, "migrate", "--skip-validation", "--config="+config)
		return config, err
	}
	return "", fmt.Errorf("%s has no configuration of golangci-lint", t.Work)
}
