// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/hack/docs"
)

func (a *app) lint() *cli.Command {
	return &cli.Command{
		Name:      "lint",
		Usage:     "run gofmt, go vet and golangci-lint on this repository",
		UsageText: "go run ./hack lint",
		Description: `Also checks that no text or name has words that docs/glossary.md rejects. Builds
golangci-lint as hack/tools/lint pins it, which takes minutes the first time; its
configuration, .golangci.yml, has the import rules. Files that belong to upstream
packages are vetted in their trees: see check.`,
		Before: takes(0, ""),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if err := a.gofmt(ctx); err != nil {
				return err
			}
			if err := a.words(ctx); err != nil {
				return err
			}
			modules, err := a.modules(ctx)
			if err != nil {
				return err
			}
			for _, module := range modules {
				if err := a.passes(ctx, module, "go", "vet", "./..."); err != nil {
					return err
				}
			}
			out := cmd.String("output")
			if err := a.goTool(ctx, "build golangci-lint", filepath.Join("hack", "tools", "lint"), out); err != nil {
				return err
			}
			for _, module := range modules {
				if err := a.passes(ctx, module, filepath.Join(out, "tools", "bin", "golangci-lint"), "run"); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// modules returns the folders of the modules with packages. The others only pin modules.
func (a *app) modules(ctx context.Context) (folders []string, err error) {
	err = eachFile(os.DirFS(a.root), func(name string) error {
		if path.Base(name) != "go.mod" {
			return nil
		}
		list := exec.CommandContext(ctx, "go", "list", "./...")
		list.Dir = filepath.Join(a.root, path.Dir(name))
		packages, err := list.Output() // vet names packages that cannot be listed
		if len(packages) > 0 || err != nil {
			folders = append(folders, path.Dir(name))
		}
		return nil
	})
	return folders, err
}

// eachFile visits the files that the go command does not skip.
func eachFile(tree fs.FS, visit func(name string) error) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return visit(name)
		case name != "." && isIgnored(d.Name()):
			return fs.SkipDir
		}
		return nil
	})
}

// isIgnored reports whether the go command skips a folder of that name.
func isIgnored(name string) bool {
	return name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// gofmt also covers the files for upstream packages, which are in no package here.
func (a *app) gofmt(ctx context.Context) error {
	defer a.progress.Step("gofmt")()
	entries, err := os.ReadDir(a.root)
	if err != nil {
		return err
	}
	args := []string{"-l"}
	for _, e := range entries {
		if e.IsDir() && !isIgnored(e.Name()) || path.Ext(e.Name()) == ".go" {
			args = append(args, e.Name())
		}
	}
	list := exec.CommandContext(ctx, "gofmt", args...)
	list.Dir = a.root
	unclean, err := list.CombinedOutput()
	if err != nil {
		return fmt.Errorf("gofmt: %w\n%s", err, unclean)
	}
	if files := strings.Fields(string(unclean)); len(files) > 0 {
		return fmt.Errorf("not gofmt-clean: %s", strings.Join(files, ", "))
	}
	return nil
}

// Files that may have words that the glossary rejects.
var wordsOfOthers = []string{
	"docs/glossary.md", "hack/docs/words_test.go", "LICENSE",
	"integration/suites/", "hack/kind/files/nodetests/", // users of images
	"go.sum", "go.mod", ".svg", // no prose
}

// words checks all texts and names for words that the glossary rejects.
func (a *app) words(ctx context.Context) error {
	defer a.progress.Step("words")()
	glossary, err := os.ReadFile(filepath.Join(a.root, "docs", "glossary.md"))
	if err != nil {
		return err
	}
	words, err := docs.ReadWords(string(glossary))
	if err != nil {
		return err
	}
	list := exec.CommandContext(ctx, "git", "ls-files", "-z")
	list.Dir = a.root
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the files of the repository with git: %w", err)
	}
	var errs []error
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if slices.ContainsFunc(wordsOfOthers, func(of string) bool { return strings.HasPrefix(name, of) || strings.HasSuffix(name, of) }) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(a.root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and git does not know yet
		}
		if err != nil {
			return err
		}
		errs = append(errs, words.Check(name, name)...)
		errs = append(errs, words.Check(name, string(content))...)
	}
	return errors.Join(errs...)
}

// passes runs a check on a module, and shows its output if it fails.
func (a *app) passes(ctx context.Context, module, name string, args ...string) error {
	what := strings.Join(append([]string{filepath.Base(name)}, args...), " ")
	if module != "." {
		what += " in " + module
	}
	defer a.progress.Step(what)()
	check := exec.CommandContext(ctx, name, args...)
	check.Dir = filepath.Join(a.root, module)
	if out, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", what, err, out)
	}
	return nil
}
