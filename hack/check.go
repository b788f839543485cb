// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/hack/docs"
	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) check() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "check every patch, the export and the generated tables",
		UsageText: "go run ./hack check [--update]",
		Description: `Each patch's file, Go value and folder have its name, and no file uses what the
file of a patch declares. Every patch applies. Every commit compiles, is
formatted, and go vet finds nothing in the packages it touches. The exported API
of a module only grows. The whole series type-checks for windows, darwin and
freebsd, tests included, and the analyzers of go vet find nothing there that they
do not find without patches. What passed before is not checked again. git am of the
export onto the pristine modules gives the same commits. The patch ids in
patches/series.golden are those of the series. The tables of the documentation
agree with the code: patches, rules and the tests that prove them, settings,
metrics. No link of the documentation is broken.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "update", Usage: "update patches/series.golden and the tables of the documentation"}},
		Before: takes(0, "[--update]"),
		Action: a.laidOut(a.applied(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace, trees []tree.Tree) error {
			golden, err := w.Golden(ctx, trees)
			if err != nil {
				return err
			}
			if cmd.Bool("update") {
				if err := a.update(golden, a.documented(ctx, w, trees)); err != nil {
					return err
				}
			}
			if err := w.Prove(ctx, trees); err != nil {
				return err
			}
			checked, err := w.Check(ctx, trees, a.product)
			if err != nil {
				return err
			}
			if err := w.CheckAPI(ctx, trees, a.product.Tags); err != nil {
				return err
			}
			inherited, err := w.CheckPlatforms(ctx, trees, a.platforms, a.product.Tags)
			if err != nil {
				return err
			}
			for _, of := range inherited {
				fmt.Fprintf(a.stdout, "%s as published, for %v: %d findings of vet, which the patches leave as they are\n", of.Module, of.Platform, len(of.Findings))
				for _, f := range of.Findings {
					fmt.Fprintf(a.stdout, "\t%v\n", f)
				}
			}
			if err := errors.Join(a.goldenDrift(golden), docs.Check(a.documented(ctx, w, trees), a.pages)); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%d patches pass, %d of them checked now\n", len(a.series.Patches), checked)
			return err
		})),
	}
}

func (a *app) goldenFile() string { return filepath.Join(a.root, "patches", "series.golden") }

// update updates what is generated from the series.
func (a *app) update(golden string, r docs.Repository) error {
	if err := docs.Update(r, a.pages); err != nil {
		return err
	}
	return os.WriteFile(a.goldenFile(), []byte(golden), 0o644)
}

// goldenDrift names the first patch whose result is not the one on record.
func (a *app) goldenDrift(golden string) error {
	content, err := os.ReadFile(a.goldenFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(content) == golden {
		return nil
	}
	want := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		want[line] = true
	}
	for line := range strings.Lines(golden) {
		if !want[line] {
			name, _, _ := strings.Cut(line, " ")
			return fmt.Errorf("patches/series.golden: %[1]s is new or gives another result: look at diff %[1]s, then run check --update", name)
		}
	}
	return errors.New("patches/series.golden: patches were removed or reordered: run check --update")
}
