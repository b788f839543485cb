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
		Description: `Checks that
  - each pull request is a folder with its text and a file for each of its patches,
    and no other file
  - every patch applies; every commit compiles, is formatted, and passes go vet in
    the packages that it touches
  - the exported API of a module only grows
  - the whole series type-checks for windows, darwin and freebsd, tests included, and
    go vet finds nothing there that it does not find without patches
  - no patch of the core has more than 150 lines
  - no other patch for upstream has more than 400 lines, or no test, without saying why
  - no patch for upstream mentions this project
  - git am of the export onto the pristine modules gives the same commits
  - the patch ids in patches/series.golden are those of the series
  - the tables of the documentation agree with the code: patches, the rules and their
    proofs, settings, metrics
  - each rule takes four lines at most, and no link of the documentation is broken

Commits that passed before are not checked again.

With --groups it also checks each group of patches that is one pull request, on the
pristine modules with only the patches that it needs: the group applies, compiles,
passes go vet, and passes the tests that it brings. A table shows the result and size
of each. That takes half an hour the first time. --group checks one group like that,
and nothing else.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "update", Usage: "update patches/series.golden and the tables of the documentation"},
			&cli.BoolFlag{Name: "last", Usage: "compile and vet only the last commit of each module"},
			&cli.BoolFlag{Name: "groups", Usage: "check each pull request alone"},
			&cli.StringSliceFlag{Name: "group", Usage: "check the pull request `NAME` alone, and nothing else"},
		},
		Before: takes(0, "[--update] [--last] [--groups | --group NAME...]"),
		Action: a.inPlace(a.applied(a.checkSeries)),
	}
}

// checkSeries checks the series and the files generated from it, or only pull requests.
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
			return errors.New("the whole series records the core, too: run check --update without --series")
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
		fmt.Fprintf(a.stdout, "%s as published, for %v: %d findings of vet, unchanged by the patches\n", of.Module, of.Platform, len(of.Findings))
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

// update updates the files generated from the series.
func (a *app) update(ctx context.Context, w *tree.Workspace, trees []tree.Tree, sizes map[string]tree.Size, target, golden string) error {
	if target == "" {
		if err := docs.Update(a.documented(ctx, w, trees, sizes), a.pages); err != nil {
			return err
		}
	}
	return os.WriteFile(a.goldenFile(target), []byte(golden), 0o644)
}

// goldenDrift names the first patch whose result is not the recorded one. If golden is that of a
// part of the series, the record may have more patches.
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
