// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"
)

func (a *app) lint() *cli.Command {
	return &cli.Command{
		Name:      "lint",
		Usage:     "gofmt, go vet and golangci-lint on this repository",
		UsageText: "go run ./hack lint",
		Description: `Builds golangci-lint as hack/tools/lint pins it, which takes minutes the first
time. Its configuration, .golangci.yml, holds the import rules. Whole files that
belong to upstream packages are vetted in their trees: see check.`,
		Before: takes(0, ""),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if err := a.gofmt(ctx); err != nil {
				return err
			}
			if err := a.passes(ctx, "go", "vet", "./..."); err != nil {
				return err
			}
			out := cmd.String("output")
			if err := a.goTool(ctx, "build golangci-lint", filepath.Join("hack", "tools", "lint"), out); err != nil {
				return err
			}
			return a.passes(ctx, filepath.Join(out, "tools", "bin", "golangci-lint"), "run")
		},
	}
}

// gofmt covers the files for upstream packages too, which are in no package here.
func (a *app) gofmt(ctx context.Context) error {
	defer a.progress.Step("gofmt")()
	list := exec.CommandContext(ctx, "gofmt", "-l", "hack", "integration", "internal", "patches", "testkit")
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

// passes runs a check and shows its output if it fails.
func (a *app) passes(ctx context.Context, name string, args ...string) error {
	what := strings.Join(append([]string{filepath.Base(name)}, args...), " ")
	defer a.progress.Step(what)()
	check := exec.CommandContext(ctx, name, args...)
	check.Dir = a.root
	if out, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", what, err, out)
	}
	return nil
}
