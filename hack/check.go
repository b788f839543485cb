// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/hack/docs"
	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) check() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "check every patch, the export and the generated tables",
		UsageText: "go run ./hack [--target VERSION] check [--update] [--last] [--groups | --group NAME...]",
		Description: `Each pull request is a folder, with its text, a file for each of its patches and
no file that is not used. Every patch applies. Every commit compiles, is formatted, and go vet finds nothing in the packages it touches. The exported API
of a module only grows. The whole series type-checks for windows, darwin and
freebsd, tests included, and the analyzers of go vet find nothing there that they
do not find without patches. No patch of the core has more than 150 lines, no other one
for upstream more than 400 without saying why, nor comes without a test without saying why, nor speaks of this project.
What passed before is not checked again. git am of the export onto the pristine
modules gives the same commits. The patch ids in
patches/series.golden are those of the series. The tables of the documentation
agree with the code: patches, what keeps and what tries each rule, settings,
metrics. Each rule takes four lines at most. No link of the documentation is broken.

With --groups, each group of patches that is one pull request applies, compiles, is
vetted and passes the tests that it brings, on the pristine modules with no more than
it needs, and a table says how far each came and how large it is. That takes half an
hour the first time. With --group it is checked so, alone, and nothing else is.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "update", Usage: "update patches/series.golden and the tables of the documentation"},
			&cli.BoolFlag{Name: "last", Usage: "compile and vet the last commit of each module alone"},
			&cli.BoolFlag{Name: "groups", Usage: "check each pull request alone"},
			&cli.StringSliceFlag{Name: "group", Usage: "check the pull request `NAME` alone, and nothing else"},
		},
		Before: takes(0, "[--update] [--last] [--groups | --group NAME...]"),
		Action: a.inPlace(a.applied(a.checkSeries)),
	}
}

// checkSeries checks the series and what is generated from it, or pull requests alone.
func (a *app) checkSeries(ctx context.Context, cmd *cli.Command, w *tree.Workspace, trees []tree.Tree) error {
	if names := cmd.StringSlice("group"); len(names) > 0 {
		return a.checkGroups(ctx, w, names)
	}
	golden, err := w.Golden(ctx, trees)
	if err != nil {
		return err
	}
	sizes, err := w.Sizes(ctx, trees)
	if err != nil {
		return err
	}
	target, whole := cmd.String("target"), ofWhole(cmd)
	if cmd.Bool("update") {
		if !whole {
			return errors.New("the core is on record with the whole series: check --update without --series")
		}
		if err := a.update(ctx, w, trees, sizes, target, golden); err != nil {
			return err
		}
	}
	if err := errors.Join(tree.CheckSizes(a.series, sizes)...); err != nil {
		return err
	}
	words, err := w.CheckWords(ctx, trees, a.ours, a.hold)
	if err := errors.Join(append(words, err)...); err != nil {
		return err
	}
	if err := w.Prove(ctx, trees); err != nil {
		return err
	}
	check := w.Check
	if cmd.Bool("last") {
		check = w.CheckLast
	}
	checked, err := check(ctx, trees, a.product)
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
	err = a.goldenDrift(target, golden, whole)
	if target == "" && whole { // the documents are about the current version
		err = errors.Join(err, docs.Check(a.documented(ctx, w, trees, sizes), a.pages))
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.stdout, "%d patches pass, %d of them checked now\n", len(a.series.Patches), checked); err != nil || !cmd.Bool("groups") {
		return err
	}
	return a.checkGroups(ctx, w, nil)
}

// update updates what is generated from the series.
func (a *app) update(ctx context.Context, w *tree.Workspace, trees []tree.Tree, sizes map[string]tree.Size, target, golden string) error {
	if target == "" {
		if err := docs.Update(a.documented(ctx, w, trees, sizes), a.pages); err != nil {
			return err
		}
	}
	return os.WriteFile(a.goldenFile(target), []byte(golden), 0o644)
}

// goldenDrift names the first patch whose result is not the one on record. What is on record of
// the whole series is more than golden has of a part of it.
func (a *app) goldenDrift(target, golden string, whole bool) error {
	file, update := a.goldenFile(target), "check --update"
	if target != "" {
		update = "--target " + target + " " + update
	}
	name := short(file)
	content, err := os.ReadFile(file)
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
			patch, _, _ := strings.Cut(line, " ")
			return fmt.Errorf("%[1]s: %[2]s is new or gives another result: look at diff %[2]s, then run %[3]s", name, patch, update)
		}
	}
	if !whole {
		return nil
	}
	return fmt.Errorf("%s: patches were removed or reordered: run %s", name, update)
}
